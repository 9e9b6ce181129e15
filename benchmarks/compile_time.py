"""Time to compile against the length of the program: per statement, long programs over short ones.

Three shapes: straight lines in which every value is read again, loops one after the other with loops inside, and a
loop that has to be written out because its iterations differ. And `ridge` with a thousand iterations, which are one
block, beside one with ten. Times are of the processor.
"""

import time

from descant.programs import Program, compile_program


def straight(length: int) -> str:
    """Every value is read three times."""
    lines = ['def p(A: "d d", B: "d d"):']
    for i in range(length):
        one, two = ("A" if i == 0 else f"v{i - 1}"), ("B" if i < 2 else f"v{i - 2}")
        lines.append(f"    v{i} = 0.5 * {one} @ {two}.T + 0.1 * A - 0.5 * {two}")
    return "\n".join([*lines, f"    return v{length - 1}", ""])


def nested(length: int) -> str:
    """Five statements for each pair of loops."""
    lines = ['def p(A: "d d", B: "d d"):', "    W = A"]
    for i in range(length // 5):
        lines += [f"    for t{i} in range(5):", "        W = 0.5 * W @ B + 0.1 * A"]
        lines += [f"        for s{i} in range(3):", "            W = W - 0.1 * B @ W.T", "    B = B @ W"]
    return "\n".join([*lines, "    return W", ""])


def written_out(length: int) -> str:
    """A loop whose iterations differ in what they read."""
    return f"""
def p(X: "10 d", w: "d 1" = 0, A: "d d" = 0):
    for t in range({length}):
        w = w - 0.1 * X[t * t % 7].T @ X[t * t % 10] @ w + A @ w
    return w
"""


def seconds(text: str) -> float:
    """Processor time to compile."""
    begin = time.process_time()
    compile_program(Program.from_text(text), d=3)
    return time.process_time() - begin


def main() -> None:
    """Print times per statement, and their ratio."""
    compile_program("ridge", n=20, d=5, T=2)
    for shape, lengths in ((straight, (40, 320)), (nested, (80, 640)), (written_out, (50, 400))):
        short, long = (seconds(shape(length)) / length for length in lengths)
        print(
            f"{shape.__name__.replace('_', ' ')}: {1e3 * short:.1f} ms a statement at {lengths[0]}, {1e3 * long:.1f} ms"
            f" at {lengths[1]}: {long / short:.2f} times (1 is linear)"
        )
    times = []
    for count in (10, 1000):
        begin = time.process_time()
        compile_program("ridge", n=20, d=5, T=count)
        times.append(time.process_time() - begin)
    print(f"ridge: {times[0]:.2f} s for 10 iterations, {times[1]:.2f} s for 1,000: {times[1] / times[0]:.1f} times")


if __name__ == "__main__":
    main()
