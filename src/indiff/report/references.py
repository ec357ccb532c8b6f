"""Lists the papers and documents that a report's numbers and limits come from, in full."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# By the short name that the source of a finding has.
PAPERS = {
    "Bayardo and Agrawal 2005": "R. J. Bayardo and R. Agrawal: Data Privacy through Optimal "
    "k-Anonymization. ICDE 2005.",
    "Benedetti and Franconi 1998": "R. Benedetti and L. Franconi: Statistical and Technological "
    "Solutions for Controlled Data Dissemination. New Techniques and Technologies for "
    "Statistics, Sorrento, 1998.",
    "Brickell and Shmatikov 2008": "J. Brickell and V. Shmatikov: The Cost of Privacy. KDD 2008.",
    "Cao and Karras 2012": "J. Cao and P. Karras: Publishing Microdata with a Robust Privacy "
    "Guarantee. PVLDB 5(11), 2012.",
    "Chen and Keller-McNulty 1998": "G. Chen and S. Keller-McNulty: Estimation of "
    "Identification Disclosure Risk in Microdata. Journal of Official Statistics 14(1), 1998.",
    "DIT draft": "G. Acs, C. Castelluccia and D. Le Métayer: Testing the Robustness of "
    "Anonymization Techniques: Acceptable versus Unacceptable Inferences. Draft.",
    "DIT v1": "A. Kassem, G. Acs and C. Castelluccia: Differential Inference Testing. Research "
    "report, INRIA, 2018, hal-01681014, version 1.",
    "DIT v2": "A. Kassem, G. Acs, C. Castelluccia and C. Palamidessi: Differential Inference "
    "Testing. Research report, INRIA, 2019, hal-01681014, version 2.",
    "Clopper and Pearson 1934": "C. J. Clopper and E. S. Pearson: The Use of Confidence or "
    "Fiducial Limits Illustrated in the Case of the Binomial. Biometrika 26(4), 1934.",
    "Dankar, El Emam, Neisa and Roffey 2012": "F. K. Dankar, K. El Emam, A. Neisa and T. "
    "Roffey: Estimating the Re-Identification Risk of Clinical Data Sets. BMC Medical "
    "Informatics and Decision Making 12, 2012.",
    "Dwork and Roth 2014": "C. Dwork and A. Roth: The Algorithmic Foundations of Differential "
    "Privacy. Foundations and Trends in Theoretical Computer Science 9(3–4), 2014.",
    "El Emam 2013": "K. El Emam: Guide to the De-Identification of Personal Health Information. "
    "CRC Press, 2013.",
    "Elliot, Manning and Ford 2002": "M. J. Elliot, A. M. Manning and R. W. Ford: A "
    "Computational Algorithm for Handling the Special Uniques Problem. International Journal of "
    "Uncertainty, Fuzziness and Knowledge-Based Systems 10(5), 2002.",
    "Franconi and Polettini 2004": "L. Franconi and S. Polettini: Individual Risk Estimation in "
    "μ-Argus: A Review. Privacy in Statistical Databases, 2004.",
    "Ganta, Kasiviswanathan and Smith 2008": "S. R. Ganta, S. P. Kasiviswanathan and A. Smith: "
    "Composition Attacks and Auxiliary Information in Data Privacy. KDD 2008.",
    "Hoshino 2001": "N. Hoshino: Applying Pitman's Sampling Formula to Microdata Disclosure "
    "Risk Assessment. Journal of Official Statistics 17(4), 2001.",
    "Hundepool et al. 2012": "A. Hundepool, J. Domingo-Ferrer, L. Franconi, S. Giessing, E. "
    "Schulte Nordholt, K. Spicer and P.-P. de Wolf: Statistical Disclosure Control. Wiley, "
    "2012.",
    "Hundepool et al. 2014": "A. Hundepool et al.: μ-ARGUS User's Manual. Statistics "
    "Netherlands, 2014.",
    "ITPR paper": "Information Theoretic-based Privacy Risk Evaluation for Data Anonymization. "
    "2019.",
    "LeFevre et al. 2006": "K. LeFevre, D. J. DeWitt and R. Ramakrishnan: Mondrian "
    "Multidimensional K-Anonymity. ICDE 2006.",
    "Li, Li and Venkatasubramanian 2007": "N. Li, T. Li and S. Venkatasubramanian: t-Closeness: "
    "Privacy Beyond k-Anonymity and ℓ-Diversity. ICDE 2007.",
    "Machanavajjhala et al. 2007": "A. Machanavajjhala, D. Kifer, J. Gehrke and "
    "M. Venkitasubramaniam: ℓ-Diversity: Privacy Beyond k-Anonymity. ACM TKDD 1(1), 2007.",
    "Manning, Haglin and Keane 2008": "A. M. Manning, D. J. Haglin and J. A. Keane: A Recursive "
    "Search Algorithm for Statistical Disclosure Assessment. Data Mining and Knowledge "
    "Discovery 16, 2008.",
    "Nergiz, Atzori and Clifton 2007": "M. E. Nergiz, M. Atzori and C. Clifton: Hiding the "
    "Presence of Individuals from Shared Databases. SIGMOD 2007.",
    "Samarati and Sweeney 1998": "P. Samarati and L. Sweeney: Protecting Privacy when Disclosing "
    "Information: k-Anonymity and Its Enforcement through Generalization and Suppression. "
    "Technical report, SRI International, 1998.",
    "Skinner and Elliot 2002": "C. J. Skinner and M. J. Elliot: A Measure of Disclosure Risk "
    "for Microdata. Journal of the Royal Statistical Society B 64(4), 2002.",
    "Skinner and Shlomo 2008": "C. Skinner and N. Shlomo: Assessing Identification Risk in "
    "Survey Microdata Using Log-Linear Models. Journal of the American Statistical Association "
    "103(483), 2008.",
    "Steinke, Nasr and Jagielski 2023": "T. Steinke, M. Nasr and M. Jagielski: Privacy Auditing "
    "with One (1) Training Run. NeurIPS 2023.",
    "Sweeney 2001": "L. Sweeney: Computational Disclosure Control: A Primer on Data Privacy "
    "Protection. PhD thesis, Massachusetts Institute of Technology, 2001.",
    "WP29 opinion 05/2014": "Article 29 Data Protection Working Party: Opinion 05/2014 on "
    "Anonymisation Techniques (WP216). 2014.",
    "Wong et al. 2006": "R. C.-W. Wong, J. Li, A. W.-C. Fu and K. Wang: (α, k)-Anonymity. KDD "
    "2006.",
    "Xu et al. 2006": "J. Xu, W. Wang, J. Pei, X. Wang, B. Shi and A. W.-C. Fu: Utility-Based "
    "Anonymization Using Local Recoding. KDD 2006.",
    "Yeom et al. 2018": "S. Yeom, I. Giacomelli, M. Fredrikson and S. Jha: Privacy Risk in Machine "
    "Learning: Analyzing the Connection to Overfitting. CSF 2018.",
    "Zayatz 1991": "L. Zayatz: Estimation of the Percent of Unique Population Elements on a "
    "Microdata File Using the Sample. Report RR-91/08, Statistical Research Division, US Bureau "
    "of the Census, 1991.",
}


def references(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return every source that the report names, by its short name, with the policy's first."""
    named = " ".join(str(one["source"]) for one in document["findings"])
    named += " WP29 opinion 05/2014 DIT v2"  # the three questions and the test, in every report
    policy = document.get("policy") or {}
    found = [(str(policy["name"]), f"{policy['source']}.")] if policy.get("source") else []
    return [*found, *((short, whole) for short, whole in PAPERS.items() if short in named)]
