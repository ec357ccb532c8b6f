// ARX's own search, for bench_recoding.py: java -cp ARX.jar ArxOptimum.java TABLE HIERARCHIES METRIC CALLS COLUMN…
//
// Prints for each call the processor time of anonymize() in seconds and the levels that it chose.

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXConfiguration.AnonymizationAlgorithm;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;
import org.deidentifier.arx.metric.Metric.AggregateFunction;

public class ArxOptimum {
    public static void main(String[] given) throws Exception {
        OperatingSystemMXBean machine = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        for (int call = 0; call < Integer.parseInt(given[3]); call++) {
            Data data = Data.create(given[0], StandardCharsets.UTF_8, ';');
            for (int place = 4; place < given.length; place++) {
                String file = given[1] + "/" + given[place] + ".csv";
                data.getDefinition().setAttributeType(
                        given[place], Hierarchy.create(file, StandardCharsets.UTF_8, ';'));
            }
            ARXConfiguration asked = ARXConfiguration.create();
            asked.addPrivacyModel(new KAnonymity(5));
            asked.setSuppressionLimit(0.02);
            asked.setAlgorithm(AnonymizationAlgorithm.OPTIMAL);
            asked.setQualityModel(metric(given[2]));
            long start = machine.getProcessCpuTime();
            ARXResult result = new ARXAnonymizer().anonymize(data, asked);
            double seconds = (machine.getProcessCpuTime() - start) / 1e9;
            StringBuilder levels = new StringBuilder();
            for (int place = 4; place < given.length; place++) {
                levels.append(' ').append(result.getGlobalOptimum().getGeneralization(given[place]));
            }
            System.out.println(seconds + levels.toString());
        }
    }

    private static Metric<?> metric(String name) {
        switch (name) {
            case "loss": return Metric.createLossMetric(AggregateFunction.GEOMETRIC_MEAN);
            case "loss-mean": return Metric.createLossMetric(AggregateFunction.ARITHMETIC_MEAN);
            case "precision": return Metric.createPrecisionMetric(false, AggregateFunction.ARITHMETIC_MEAN);
            case "height": return Metric.createHeightMetric();
            case "discernibility": return Metric.createDiscernabilityMetric(false);
            case "average-group": return Metric.createAECSMetric();
            case "entropy": return Metric.createEntropyMetric(false, AggregateFunction.SUM);
            default: throw new IllegalArgumentException(name);
        }
    }
}
