# SPDX-License-Identifier: MIT
"""Rows of the benchmark's result and how they are shown."""
import statistics
import sys


def progress(line):
    print(f"bench: {line}", file=sys.stderr, flush=True)


def spread(samples):
    """Median, least and greatest, and the quartiles."""
    ordered = sorted(samples)
    if len(ordered) < 2:
        low = high = ordered[0]
    else:
        low, _, high = statistics.quantiles(ordered, n=4, method="inclusive")
    return {"median": statistics.median(ordered), "min": ordered[0],
            "max": ordered[-1], "q1": low, "q3": high}


def row(section, what, samples, unit, bar=None, least=False, strict=False,
        note=""):
    """One row. `bar` is the most that the median may be, or with `least` the
    least; `strict` excludes the bar itself. No bar: for information."""
    figures = spread(samples)
    met, text = None, ""
    if bar is not None:
        value = figures["median"]
        if least:
            met, text = value >= bar, f">= {shown(bar)}"
        elif strict:
            met, text = value < bar, f"< {shown(bar)}"
        else:
            met, text = value <= bar, f"<= {shown(bar)}"
    return {"section": section, "what": what, "unit": unit, "bar": text,
            "met": met, "note": note, "samples": list(samples), **figures}


def failure(section, why, has_bar):
    return {"section": section, "what": f"not measured: {why}", "unit": "",
            "bar": "", "met": False if has_bar else None, "note": "",
            "samples": [], "median": None, "min": None, "max": None,
            "q1": None, "q3": None}


def shown(value):
    if value is None:
        return ""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3f}"


def cells(entry):
    verdict = {True: "met", False: "MISSED", None: ""}[entry["met"]]
    figure = shown(entry["median"])
    if entry["unit"] and figure:
        figure += " " + entry["unit"]
    around = ""
    if len(entry["samples"]) > 1:
        around = (f"{shown(entry['min'])} .. {shown(entry['max'])} "
                  f"({shown(entry['q1'])} .. {shown(entry['q3'])})")
    what = entry["what"] + (f" ({entry['note']})" if entry["note"] else "")
    return [entry["section"], what, entry["bar"], figure, around, verdict]


def line(entry):
    _, what, bar, figure, _, verdict = cells(entry)
    return f"{what}: {figure} {bar} {verdict}".rstrip(" :")


def text(about, rows):
    head = ["section", "what", "bar", "median", "min .. max (quartiles)",
            "verdict"]
    table = [head] + [cells(entry) for entry in rows]
    widths = [max(map(len, column)) for column in zip(*table)]
    lines = [f"{about['cpus']} x {about['cpu']}, Linux {about['kernel']}, "
             f"{about['date']}, {about['rounds']} rounds"]
    lines += [f"Other work on this machine took {about['others_percent']} % "
              "of its CPUs; above 3 % mistrust the figures in us.", ""]
    for index, fields in enumerate(table):
        padded = [cell.ljust(width) for cell, width in zip(fields, widths)]
        lines.append("| " + " | ".join(padded) + " |")
        if index == 0:
            lines.append("|" + "|".join("-" * (width + 2)
                                        for width in widths) + "|")
    bars = [entry for entry in rows if entry["met"] is not None]
    missed = sum(not entry["met"] for entry in bars)
    lines += ["", f"{len(bars) - missed} of {len(bars)} bars met"]
    return "\n".join(lines)
