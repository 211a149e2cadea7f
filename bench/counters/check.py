#!/usr/bin/env python3
"""Prints a table of counters and compares them with budgets.txt. Arguments: the budgets, then NAME=PROFILE.json …"""
import json
import sys


def totals(path):
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    counts = {"launches": 0, "allocations": profile["calls"].get("cudaMallocAsync", 0)}
    for kernel in profile["kernels"]:
        counts["launches"] += kernel["launches"]
        for key, value in kernel.items():
            if isinstance(value, int) and key != "launches":
                counts[key] = counts.get(key, 0) + value
    return counts


def main():
    budgets = {}
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split()
            if words:
                budgets.setdefault(words[0], []).append((words[1], int(words[2])))
    over = False
    print(f"{'operation':24}{'counter':28}{'counted':>14}{'budget':>14}")
    for argument in sys.argv[2:]:
        name, path = argument.split("=", 1)
        counts = totals(path)
        if name not in budgets:
            print(f"{name:24}has no budget")
            over = True
        for counter, budget in budgets.pop(name, []):
            counted = counts.get(counter, 0)
            mark = "" if counted <= budget else "   OVER"
            over = over or counted > budget
            print(f"{name:24}{counter:28}{counted:14}{budget:14}{mark}")
    for name in budgets:
        print(f"{name:24}has a budget but was not run")
        over = True
    print("counters: over budget" if over else "counters: all within their budgets")
    return 1 if over else 0


sys.exit(main())
