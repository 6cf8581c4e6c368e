# autograd_check.py JSONL [FUNCTIONS]: JSONL is the output of gtexport --jsonl. Each launch within a range of autograd's engine with a
# sequence number must have the line of the last launch within a forward range with that number. FUNCTIONS: a regular expression of
# the functions that call the operators of the forward pass (default: forward). Prints PASS or FAIL, and the numbers.
import collections
import json
import re
import sys

call = re.compile(r"(%s) \(\S*:\d+\)" % (sys.argv[2] if len(sys.argv) > 2 else "forward"))
stacks, open_ranges, forward = {}, collections.defaultdict(list), {}
result, wrong = collections.Counter(), 0
for text in open(sys.argv[1]):
    row = json.loads(text)
    name, phase, thread = row.get("name", ""), row.get("phase"), (row.get("pid"), row.get("tid"))
    if name == "STACK":
        stacks[row["stack_id"]] = [frame["text"] for frame in row["frames"]]
    elif row.get("kind") == "span":  # ranges of one thread nest
        number = re.search(r", seq = (\d+)", name)
        if phase == "B":
            open_ranges[thread].append((name, number and number[1]))
        elif open_ranges[thread]:
            open_ranges[thread].pop()
    elif name.startswith("cuLaunchKernel") and phase == "B" and "layer" not in row:
        stack = stacks.get(row["details"].get("stack_id"), [])
        lines = [frame for frame in stack if call.fullmatch(frame)]
        numbered = [r for r in open_ranges[thread] if r[1]]
        backward = [r for r in numbered if "Backward" in r[0]]
        if backward:
            known = forward.get(backward[-1][1])
            has_mark = any(frame.startswith("[backward of ") for frame in stack)
            result["linked" if has_mark else "without a forward launch" if not known else "not linked"] += 1
            if (known or has_mark) and lines[-1:] != [known]:
                wrong += 1
                print("  number", backward[-1][1], "forward", known, "but the stack is", stack)
        elif lines:
            forward.update((r[1], lines[-1]) for r in numbered)
good = result["linked"] and not result["not linked"] and not wrong
print("PASS" if good else "FAIL", "launches of the backward pass:", dict(result), "wrong:", wrong)
sys.exit(not good)
