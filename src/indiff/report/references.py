"""Lists the papers and documents that a report's numbers and limits come from, in full."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# By the short name that the source of a finding has.
PAPERS = {
    "Bayardo and Agrawal 2005": "R. J. Bayardo and R. Agrawal: Data Privacy through Optimal "
    "k-Anonymization. ICDE 2005.",
    "Brickell and Shmatikov 2008": "J. Brickell and V. Shmatikov: The Cost of Privacy. KDD 2008.",
    "Cao and Karras 2012": "J. Cao and P. Karras: Publishing Microdata with a Robust Privacy "
    "Guarantee. PVLDB 5(11), 2012.",
    "DIT draft": "G. Acs, C. Castelluccia and D. Le Métayer: Testing the Robustness of "
    "Anonymization Techniques: Acceptable versus Unacceptable Inferences. Draft.",
    "DIT v1": "A. Kassem, G. Acs and C. Castelluccia: Differential Inference Testing. Research "
    "report, INRIA, 2018, hal-01681014, version 1.",
    "DIT v2": "A. Kassem, G. Acs, C. Castelluccia and C. Palamidessi: Differential Inference "
    "Testing. Research report, INRIA, 2019, hal-01681014, version 2.",
    "El Emam 2013": "K. El Emam: Guide to the De-Identification of Personal Health Information. "
    "CRC Press, 2013.",
    "ITPR paper": "Information Theoretic-based Privacy Risk Evaluation for Data Anonymization. "
    "2019.",
    "LeFevre et al. 2006": "K. LeFevre, D. J. DeWitt and R. Ramakrishnan: Mondrian "
    "Multidimensional K-Anonymity. ICDE 2006.",
    "Li, Li and Venkatasubramanian 2007": "N. Li, T. Li and S. Venkatasubramanian: t-Closeness: "
    "Privacy Beyond k-Anonymity and ℓ-Diversity. ICDE 2007.",
    "Machanavajjhala et al. 2007": "A. Machanavajjhala, D. Kifer, J. Gehrke and "
    "M. Venkitasubramaniam: ℓ-Diversity: Privacy Beyond k-Anonymity. ACM TKDD 1(1), 2007.",
    "Samarati and Sweeney 1998": "P. Samarati and L. Sweeney: Protecting Privacy when Disclosing "
    "Information: k-Anonymity and Its Enforcement through Generalization and Suppression. "
    "Technical report, SRI International, 1998.",
    "WP29 opinion 05/2014": "Article 29 Data Protection Working Party: Opinion 05/2014 on "
    "Anonymisation Techniques (WP216). 2014.",
    "Wong et al. 2006": "R. C.-W. Wong, J. Li, A. W.-C. Fu and K. Wang: (α, k)-Anonymity. KDD "
    "2006.",
    "Xu et al. 2006": "J. Xu, W. Wang, J. Pei, X. Wang, B. Shi and A. W.-C. Fu: Utility-Based "
    "Anonymization Using Local Recoding. KDD 2006.",
    "Yeom et al. 2018": "S. Yeom, I. Giacomelli, M. Fredrikson and S. Jha: Privacy Risk in Machine "
    "Learning: Analyzing the Connection to Overfitting. CSF 2018.",
}


def references(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return every source that the report names, by its short name, with the policy's first."""
    named = " ".join(str(one["source"]) for one in document["findings"])
    named += " WP29 opinion 05/2014 DIT v2"  # the three questions and the test, in every report
    policy = document.get("policy") or {}
    found = [(str(policy["name"]), f"{policy['source']}.")] if policy.get("source") else []
    return [*found, *((short, whole) for short, whole in PAPERS.items() if short in named)]
