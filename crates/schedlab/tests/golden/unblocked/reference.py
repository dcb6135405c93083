#!/usr/bin/env python3
"""Reference values for imported numbers without blocks (docs/method.md#m-unblocked).

Development only: needs numpy and scipy (made with scipy 1.17). Reads study.csv
beside it and writes expected.tsv: every comparison of three schedulers by cell,
by record size, by operation and overall, a replicate being one execution
(scheduler, record_size, run), margin 5 %, Holm within each kind.

    python3 reference.py
"""
import csv
import itertools
import math
import os

import numpy as np
from scipy import stats

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = list(csv.DictReader(open(os.path.join(HERE, "study.csv"))))
SUBJECTS = list(dict.fromkeys(row["scheduler"] for row in ROWS))
SIZES = list(dict.fromkeys(row["record_size"] for row in ROWS))
OPERATIONS = list(dict.fromkeys(row["operation"] for row in ROWS))
THETA = math.log(1.05)


def samples(subject, wanted, strata):
    """Logarithms of executions by stratum: the mean over an execution's rows."""
    executions = {}
    for row in ROWS:
        if row["scheduler"] != subject:
            continue
        if any(row[key] != value for key, value in wanted.items()):
            continue
        stratum = tuple(row[key] for key in strata)
        value = math.log(float(row["kBps"]))
        executions.setdefault(stratum, {}).setdefault(row["run"], []).append(value)
    return {key: [np.mean(logs) for logs in runs.values()] for key, runs in executions.items()}


def compared(reference, subject):
    strata = list(reference)
    difference = np.mean([np.mean(subject[s]) - np.mean(reference[s]) for s in strata])
    parts = [
        (np.var(sample[s], ddof=1) / len(sample[s]) / len(strata) ** 2, len(sample[s]) - 1)
        for s in strata
        for sample in (reference, subject)
    ]
    variance = sum(part for part, _ in parts)
    degrees = variance**2 / sum(part**2 / df for part, df in parts)
    error = math.sqrt(variance)
    half = stats.t.ppf(0.975, degrees) * error
    return [
        math.exp(difference),
        math.exp(difference - half),
        math.exp(difference + half),
        degrees,
        2 * stats.t.sf(abs(difference) / error, degrees),
        max(
            stats.t.sf((difference + THETA) / error, degrees),
            stats.t.cdf((difference - THETA) / error, degrees),
        ),
    ]


def holm(p_values):
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(np.argsort(p_values, kind="stable")):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def family(name, questions, strata):
    rows = []
    for label, wanted in questions:
        for reference, subject in itertools.combinations(SUBJECTS, 2):
            values = compared(samples(reference, wanted, strata), samples(subject, wanted, strata))
            rows.append([name, label, subject, reference, *values])
    columns = zip(*(holm([row[index] for row in rows]) for index in (8, 9)))
    return [row + list(adjusted) for row, adjusted in zip(rows, columns)]


def main():
    by_size = [(f"record_size:{z}", {"record_size": z}) for z in SIZES]
    by_operation = [(f"operation:{o}", {"operation": o}) for o in OPERATIONS]
    cells = [
        (f"record_size:{z},operation:{o}", {"record_size": z, "operation": o})
        for z in SIZES
        for o in OPERATIONS
    ]
    rows = family("overall", [("overall", {})], ["record_size"])
    rows += family("record_size", by_size, [])
    rows += family("operation", by_operation, ["record_size"])
    rows += family("cells", cells, [])
    with open(os.path.join(HERE, "expected.tsv"), "w") as out:
        out.write(
            "family\tworkload\tsubject\treference\tratio\tlow\thigh\tdegrees\tp_difference\t"
            "p_equivalence\tadjusted_difference\tadjusted_equivalence\n"
        )
        for row in rows:
            numbers = [repr(float(number)) for number in row[4:]]
            out.write("\t".join(row[:4] + numbers) + "\n")


if __name__ == "__main__":
    main()
