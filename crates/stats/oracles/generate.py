"""Golden vectors for crates/stats, from implementations that share no code with it.

Run in this directory, with scipy 1.17 and mpmath 1.3:

    python3 generate.py

It rewrites ../tests/golden/*.tsv, deterministically; `cargo test -p stats` only reads
them. A line is a function, its arguments (numbers parted by spaces, lists by
semicolons) and what it should return. Distributions come from mpmath with 50 digits,
tests from scipy, and what neither has from its definition in exact fractions.
"""

import random
from fractions import Fraction
from math import comb
from pathlib import Path

import mpmath
import numpy
from mpmath import mp, mpf
from scipy import stats
from scipy.stats import mstats

mp.dps = 50
GOLDEN = Path(__file__).parent.parent / "tests" / "golden"
DEGREES = [0.3, 0.7, 1, 1.5, 2, 3, 4, 5.3, 9, 9.7, 19, 31, 99, 298.4, 1000, 9999.5, 1e4, 12345.6, 1e5, 1e6, 3e6]


def text(value):
    if isinstance(value, mpf):
        return mpmath.nstr(value, 20)
    return repr(float(value)) if isinstance(value, (float, numpy.floating)) else str(value)


def write(name, rows):
    lines = []
    for function, arguments, expected in rows:
        groups = [group if isinstance(group, (list, tuple)) else [group] for group in arguments]
        expected = expected if isinstance(expected, (list, tuple)) else [expected]
        lines.append("\t".join([
            function,
            ";".join(" ".join(map(text, group)) for group in groups),
            " ".join(map(text, expected)),
        ]))
    (GOLDEN / f"{name}.tsv").write_text("\n".join(lines) + "\n")
    print(name, len(lines))


# Distributions.

def normal_cdf(z):
    return mpmath.erfc(-mpf(z) / mpmath.sqrt(2)) / 2


def beta_cdf(x, a, b, y):
    """Lower tail at x = 1 - y: the series of positive terms of DLMF 8.17.8 on the near
    side of the mean. (mpmath.betainc takes minutes for some of the arguments here.)"""
    if x > a / (a + b):
        return 1 - beta_cdf(y, b, a, x)
    term, total, n = mpf(1), mpf(1), 0
    while term > total * mpf(10) ** -45:
        term *= (a + b + n) / (a + 1 + n) * x
        total += term
        n += 1
        if n > 300_000:
            raise ArithmeticError("too slow")
    return mpmath.exp(a * mpmath.log(x) + b * mpmath.log(y)) / mpmath.beta(a, b) / a * total


def t_survival(t, degrees):
    t, degrees = mpf(t), mpf(degrees)
    if t < 0:
        return 1 - t_survival(-t, degrees)
    square = t * t
    if degrees > square:
        return (1 - mpmath.betainc(0.5, degrees / 2, 0, square / (degrees + square), regularized=True)) / 2 \
            if square < 1 else mpmath.betainc(degrees / 2, 0.5, 0, degrees / (degrees + square), regularized=True) / 2
    return mpmath.betainc(degrees / 2, 0.5, 0, degrees / (degrees + square), regularized=True) / 2


def f_cdf(value, above, below):
    value, above, below = mpf(value), mpf(above), mpf(below)
    all = below + above * value
    return beta_cdf(above * value / all, above / 2, below / 2, below / all)


def f_survival(value, above, below):
    value, above, below = mpf(value), mpf(above), mpf(below)
    all = below + above * value
    return beta_cdf(below / all, below / 2, above / 2, above * value / all)


def solved(tail, density, target, guess):
    """Newton's rule for ln tail(u) = ln target; density is the tail's derivative."""
    u = mpf(guess)
    for _ in range(60):
        found = tail(u)
        step = mpmath.log(target / found) * found / density(u)
        u += step
        if abs(u) > 600:
            break
        # The next step would be of the order of its square.
        if abs(step) < mpf(10) ** -12 * max(1, abs(u)):
            return u
    raise ArithmeticError("no quantile")


def t_upper_quantile(tail, degrees):
    """ln t by Newton on the logarithm of the upper tail."""
    degrees = mpf(degrees)
    norm = mpmath.gamma((degrees + 1) / 2) / mpmath.gamma(degrees / 2) / mpmath.sqrt(degrees * mp.pi)
    density = lambda t: norm * (1 + t * t / degrees) ** (-(degrees + 1) / 2)
    start = mpmath.log(max(mpf(with_tail(float(-mpmath.log10(tail)), float(degrees))), mpf("0.01")))
    return mpmath.exp(solved(
        lambda u: t_survival(mpmath.exp(u), degrees),
        lambda u: -density(mpmath.exp(u)) * mpmath.exp(u),
        mpf(tail), start))


def beta_logit_quantile(probability, a, b, start):
    """x and 1 - x by Newton in the logit."""
    a, b = mpf(a), mpf(b)
    x = lambda w: 1 / (1 + mpmath.exp(-w))
    lower = lambda w: beta_cdf(x(w), a, b, x(-w))
    density = lambda w: mpmath.exp(a * mpmath.log(x(w)) + b * mpmath.log(x(-w))) / mpmath.beta(a, b)
    w = solved(lower, density, mpf(probability), start)
    return x(w), x(-w)


def noncentral_t_cdf(t, degrees, shift):
    """Mean of Phi(t s - shift) over s = chi / sqrt(degrees), by the trapezoidal rule
    in ln s with a third of the step that 30 digits need."""
    t, degrees, shift = mpf(t), mpf(degrees), mpf(shift)
    with mp.workdps(30):
        log_norm = mpmath.log(2) + degrees / 2 * mpmath.log(degrees / 2) - mpmath.loggamma(degrees / 2)

        def term(u):
            s = mpmath.exp(u)
            return mpmath.exp(log_norm + degrees * u - degrees * s * s / 2) * normal_cdf(t * s - shift)

        # The mode on a coarse grid, since the integrand has one.
        grid = [mpf(k) / 40 for k in range(-1200, 120)]
        width = float((2 * degrees) ** 0.5)
        grid += [mpf(k) / mpf(4 * width) for k in range(-200, 200)]
        logs = [(mpmath.log(value), u) for u, value in ((u, term(u)) for u in grid[::3]) if value > 0]
        mode = max(logs)[1]
        s = mpmath.exp(mode)
        edge = max(min(abs(t) * s, abs(shift) + 45), abs(shift))
        scale = mpmath.sqrt(2 * degrees * s * s + 2 * edge ** 2)
        step = min(mpf("0.35") / scale, mpf("0.06"))
        total, largest = term(mode), term(mode)
        for direction in (step, -step):
            index = 1
            while True:
                value = term(mode + index * direction)
                total += value
                if value > largest:
                    largest = value
                elif value < largest * mpf(10) ** -21:
                    break
                index += 1
        return total * step


def noncentral_t_by_series(t, degrees, shift):
    """Algorithm AS 243 in exact enough arithmetic, to check the rule above: t > 0."""
    with mp.workdps(450):
        t, degrees, shift = mpf(t), mpf(degrees), mpf(shift)
        x = t * t / (t * t + degrees)
        half = shift * shift / 2
        total = normal_cdf(-shift) * 2
        for j in range(int(half) + 600):
            p = mpmath.exp(-half) * half ** j / mpmath.factorial(j)
            q = shift / mpmath.sqrt(2) * mpmath.exp(-half) * half ** j / mpmath.gamma(j + mpf(3) / 2)
            total += p * mpmath.betainc(j + mpf(1) / 2, degrees / 2, 0, x, regularized=True)
            total += q * mpmath.betainc(j + 1, degrees / 2, 0, x, regularized=True)
        return total / 2


def with_tail(draw, degrees):
    """A t whose upper tail is about 10^-draw."""
    z = float(stats.norm.isf(10.0 ** -draw))
    scale = max(degrees - 0.5, 0.2)
    with numpy.errstate(over="ignore"):
        t = float(numpy.sqrt(degrees * numpy.expm1(z * z / scale)))
    if degrees < 3:
        t = float(10.0 ** min(draw / degrees, 250.0))
    return t if numpy.isfinite(t) and t < 1e250 else 1e100


def distributions():
    draw = random.Random(1)
    rows = []
    for _ in range(150):
        z = draw.uniform(-37.3, 37.3)
        rows.append(("normal_cdf", (z,), normal_cdf(z)))
        rows.append(("normal_survival", (z,), normal_cdf(-mpf(z))))
        p = 10.0 ** -draw.uniform(0, 300) if draw.random() < 0.7 else draw.uniform(0.01, 0.99999)
        root = mpmath.findroot(lambda z: mpmath.log(normal_cdf(z)) - mpmath.log(mpf(p)), mpf(float(stats.norm.ppf(p))))
        rows.append(("normal_quantile", (p,), root))
    for degrees in DEGREES:
        for _ in range(14):
            t = with_tail(draw.uniform(0.31, 290), degrees) if draw.random() < 0.6 else draw.uniform(0.001, 12)
            tail = t_survival(t, degrees)
            if tail > mpf(10) ** -300:
                rows.append(("t_survival", (t, degrees), tail))
                rows.append(("t_cdf", (-t, degrees), tail))
                rows.append(("t_cdf", (t, degrees), 1 - tail))
        for tail in [10.0 ** -draw.uniform(0.31, 4) for _ in range(4)] + [10.0 ** -draw.uniform(4, 300) for _ in range(4)]:
            try:
                t = t_upper_quantile(tail, degrees)
            except (ArithmeticError, ValueError, ZeroDivisionError):
                continue
            if t < mpf(10) ** 300:
                rows.append(("t_quantile", (tail, degrees), -t))
                p = 1 - tail
                if tail > 1e-3:
                    rows.append(("t_quantile", (p, degrees), t_upper_quantile(1 - mpf(p), degrees)))
    for _ in range(250):
        a, b = (10.0 ** draw.uniform(-1.3, 3.7) for _ in range(2))
        spread = float((1 / a + 1 / b) ** 0.5)
        logit = numpy.log(a / b) + draw.uniform(-1, 1) * draw.choice([2, 10, 30]) * spread
        x = float(1 / (1 + numpy.exp(-numpy.float64(logit))))
        lower = beta_cdf(mpf(x), mpf(a), mpf(b), 1 - mpf(x))
        if 0 < x < 1 and lower > mpf(10) ** -300:
            rows.append(("beta_regularized", (x, a, b), lower))
        value = float(numpy.exp(draw.uniform(-1, 1) * draw.choice([2, 10, 30]) * spread))
        if 1e-200 < value < 1e200:
            low, high = f_cdf(value, 2 * a, 2 * b), f_survival(value, 2 * a, 2 * b)
            if min(low, high) > mpf(10) ** -300:
                rows.append(("f_cdf", (value, 2 * a, 2 * b), low))
                rows.append(("f_survival", (value, 2 * a, 2 * b), high))
        p = 10.0 ** -draw.uniform(0.01, 250) if draw.random() < 0.5 else draw.uniform(0.01, 0.99)
        start = numpy.log(float(stats.beta.ppf(p, a, b)) + 1e-300)
        start -= numpy.log1p(-min(float(stats.beta.ppf(p, a, b)), 1 - 1e-16))
        try:
            x, y = beta_logit_quantile(p, a, b, float(start))
        except (ArithmeticError, ValueError, ZeroDivisionError):
            continue
        if x > mpf(10) ** -300:
            rows.append(("beta_quantile", (p, a, b), x))
            rows.append(("f_quantile", (p, 2 * a, 2 * b), mpf(b) * x / (mpf(a) * y)))
    write("distributions", rows)


def noncentral():
    for case in [(2.0, 5.0, 1.5), (30.0, 4.0, 38.0), (0.5, 9.0, 20.0)]:
        error = abs(noncentral_t_cdf(*case) / noncentral_t_by_series(*case) - 1)
        assert error < 1e-18, (case, error)
    draw = random.Random(2)
    rows = []
    while len(rows) < 400:
        degrees = draw.choice([1, 2, 4, 9, 31, 200, 1e4, 1e5, 10.0 ** draw.uniform(-0.3, 5)])
        shift = draw.uniform(-38, 38) if draw.random() < 0.6 else draw.uniform(-6, 6)
        t = shift + draw.gauss(0, 1) * draw.choice([1, 5, 20]) if draw.random() < 0.7 else draw.uniform(-60, 90)
        lower = noncentral_t_cdf(t, degrees, shift)
        upper = noncentral_t_cdf(-t, degrees, -shift)
        assert abs(lower + upper - 1) < 1e-18, (t, degrees, shift)
        if lower > mpf(10) ** -300:
            rows.append(("noncentral_t_cdf", (t, degrees, shift), lower))
        if upper > mpf(10) ** -300:
            rows.append(("noncentral_t_survival", (t, degrees, shift), upper))
    write("noncentral", rows)


# Rank tests and tables.

def rank_tests():
    draw = random.Random(3)
    rows = []
    for count in [1, 2, 5, 6, 10, 17, 33, 60, 120, 400]:
        ways = [1] + [0] * (count * (count + 1) // 2)
        for rank in range(1, count + 1):
            for total in range(len(ways) - 1, rank - 1, -1):
                ways[total] += ways[total - rank]
        for _ in range(6):
            w = int(draw.random() ** draw.choice([1, 4]) * (len(ways) - 1))
            rows.append(("signed_rank_cdf", (w, count), mpf(sum(ways[:w + 1])) / 2 ** count))
            rows.append(("signed_rank_survival", (w, count), mpf(sum(ways[w:])) / 2 ** count))
    for first, second in [(1, 1), (1, 9), (3, 4), (5, 6), (8, 20), (20, 20), (50, 50), (7, 300), (90, 110)]:
        ways = [1] + [0] * (first * second)
        for i in range(1, first + 1):
            for u in range(len(ways) - 1, second + i - 1, -1):
                ways[u] -= ways[u - second - i]
            for u in range(i, len(ways)):
                ways[u] += ways[u - i]
        assert sum(ways) == comb(first + second, first)
        for _ in range(6):
            u = int(draw.random() ** draw.choice([1, 4]) * first * second)
            rows.append(("mann_whitney_cdf", (u, first, second), mpf(sum(ways[:u + 1])) / sum(ways)))
            rows.append(("mann_whitney_survival", (u, first, second), mpf(sum(ways[u:])) / sum(ways)))
    for _ in range(120):
        shift = draw.choice([0, 0.5, 3])
        values = [draw.gauss(shift, 1) for _ in range(draw.randint(1, 45))]
        rows.append(("signed_rank_p", (values,), float(stats.wilcoxon(values, method="exact").pvalue)))
        walsh = sorted((a + b) / 2 for i, a in enumerate(values) for b in values[i:])
        rows.append(("pseudo_median", (values,), float(numpy.median(walsh))))
        other = [draw.gauss(0, 1) for _ in range(draw.randint(1, 45))]
        p = stats.mannwhitneyu(values, other, method="exact").pvalue
        rows.append(("mann_whitney", (values, other), float(p)))
        a, b = ([draw.randint(0, 6) for _ in range(draw.randint(2, 30))] for _ in range(2))
        if len(set(a + b)) > 1:
            p = stats.mannwhitneyu(a, b, method="asymptotic", use_continuity=True).pvalue
            if len(set(a + b)) < len(a + b):
                rows.append(("mann_whitney", (a, b), float(p)))
        series = [draw.gauss(0.1 * i, 1) for i in range(draw.randint(4, 38))]
        tau = stats.kendalltau(range(len(series)), series, method="exact")
        rows.append(("mann_kendall", (series,), float(tau.pvalue)))
        rows.append(("theil_sen", (series,), float(stats.theilslopes(series).slope)))
    write("rank_tests", rows)


def fisher_exact(a, first, b, second):
    """The definition, with the tie tolerance of scipy; terms by exact ratios in mpmath."""
    hits = a + b
    low, high = max(0, hits - second), min(hits, first)
    log = lambda n, k: mpmath.loggamma(n + 1) - mpmath.loggamma(k + 1) - mpmath.loggamma(n - k + 1)
    weight = mpmath.exp(log(first, low) + log(second, hits - low) - log(first + second, hits))
    weights = {low: weight}
    for k in range(low, high):
        weight = weight * (first - k) * (hits - k) / ((k + 1) * (second - hits + k + 1))
        weights[k + 1] = weight
    limit = weights[a] * (1 + mpf(10) ** -7)
    return min(mpf(1), mpmath.fsum(w for w in weights.values() if w <= limit))


def fisher():
    draw = random.Random(4)
    rows = []
    for _ in range(300):
        first, second = (int(10 ** draw.uniform(0, 2.5)) for _ in range(2))
        a, b = draw.randint(0, first), draw.randint(0, second)
        ours = fisher_exact(a, first, b, second)
        theirs = stats.fisher_exact([[a, first - a], [b, second - b]]).pvalue
        assert abs(ours / theirs - 1) < 1e-6 or ours < 1e-290, (a, first, b, second, ours, theirs)
        if ours > mpf(10) ** -300:
            rows.append(("fisher_exact", (a, first, b, second), ours))
    for _ in range(12):
        first, second = (int(10 ** draw.uniform(4, 5)) for _ in range(2))
        share = draw.uniform(0.001, 0.3)
        a, b = (min(n, int(draw.gauss(n * share, 3 * (n * share) ** 0.5))) for n in (first, second))
        rows.append(("fisher_exact", (a, first, b, second), fisher_exact(a, first, b, second)))
    for case in [(250_000, 500_000, 250_600, 500_000), (1_200, 500_000, 1_000, 500_000), (10, 999_990, 0, 10)]:
        rows.append(("fisher_exact", case, fisher_exact(*case)))
    write("fisher", rows)


# What is defined in the design.

def holm(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    adjusted, highest = [None] * len(values), Fraction(0)
    for position, index in enumerate(order):
        highest = max(highest, min(Fraction(1), (len(values) - position) * Fraction(values[index])))
        adjusted[index] = mpf(highest.numerator) / highest.denominator
    return adjusted


def exact(values):
    return [Fraction(value) for value in values]


def real(fraction):
    return mpf(fraction.numerator) / fraction.denominator


def moments(values):
    values = exact(values)
    mean = sum(values) / len(values)
    return mean, sum((v - mean) ** 2 for v in values) / (len(values) - 1)


def tost(values, theta):
    mean, variance = moments(values)
    error = mpmath.sqrt(real(variance) / len(values))
    mean, theta = real(mean), mpf(theta)
    return max(t_survival((mean + theta) / error, len(values) - 1), t_survival((theta - mean) / error, len(values) - 1))


def energy_split(series):
    """The first place of the largest energy, in exact fractions."""
    values = exact(series)
    distance = lambda xs, ys: sum(abs(x - y) for x in xs for y in ys)
    best = None
    for place in range(5, len(values) - 4):
        left, right = values[:place], values[place:]
        n, m = len(left), len(right)
        energy = Fraction(n * m, n + m) * (
            2 * distance(left, right) / (n * m)
            - distance(left, left) / (n * (n - 1)) - distance(right, right) / (m * (m - 1)))
        if best is None or energy > best[0]:
            best = (energy, place)
    return best[1]


def pooled_p(left, right):
    (mean, variance), (other, spread) = moments(left), moments(right)
    degrees = len(left) + len(right) - 2
    pooled = real((len(left) - 1) * variance + (len(right) - 1) * spread) / degrees
    error = mpmath.sqrt(pooled * (mpf(1) / len(left) + mpf(1) / len(right)))
    return 2 * t_survival(abs(real(other - mean)) / error, degrees), real(other - mean)


def change_points(series, least, offset=0):
    if len(series) < 10:
        return []
    place = energy_split(series)
    p, shift = pooled_p(series[:place], series[place:])
    if p >= mpf("0.05") / (len(series) - 9) or abs(shift) <= least:
        return []
    return change_points(series[:place], least, offset) + [offset + place] \
        + change_points(series[place:], least, offset + place)


def nested(boots):
    flat = [[exact(process) for process in boot] for boot in boots]
    variance = lambda xs: sum((x - sum(xs) / len(xs)) ** 2 for x in xs) / (len(xs) - 1)
    average = lambda xs: sum(xs) / len(xs)
    s1 = average([variance(process) for boot in flat for process in boot])
    s2 = average([variance([average(process) for process in boot]) for boot in flat])
    s3 = variance([average([average(process) for process in boot]) for boot in flat])
    processes, iterations = len(flat[0]), len(flat[0][0])
    own = [s1, s2 - s1 / iterations, s3 - s2 / processes]
    return [real(max(Fraction(0), value)) for value in own]


def harrell_davis(values, q):
    values, n = sorted(values), len(values)
    a, b = mpf(q) * (n + 1), (1 - mpf(q)) * (n + 1)
    cdf = lambda k: mpmath.betainc(a, b, 0, mpf(k) / n, regularized=True)
    cuts = [cdf(k) for k in range(n + 1)]
    found = mpmath.fsum((cuts[k + 1] - cuts[k]) * mpf(values[k]) for k in range(n))
    theirs = float(mstats.hdquantiles(numpy.array(values), [q])[0])
    assert abs(found / theirs - 1) < 1e-9, (found, theirs)
    return found


def half_width(count, deviation, alpha):
    n = mpf(count)
    root = ((n + 1) / mpf(alpha) ** 2) ** (1 / n)
    if n + 1 <= root:
        return "inf"
    return mpmath.sqrt((n + 1) * (n - 1) * mpf(deviation) ** 2 * (root - 1) / (n + 1 - root) / n)


def wilson(successes, trials, alpha):
    z = -mpmath.findroot(lambda z: normal_cdf(z) - mpf(alpha) / 2, mpf(float(stats.norm.ppf(alpha / 2))))
    share = mpf(successes) / trials
    centre, spread = share + z * z / (2 * trials), z * mpmath.sqrt(share * (1 - share) / trials + z * z / (4 * mpf(trials) ** 2))
    return [(centre - spread) / (1 + z * z / trials), (centre + spread) / (1 + z * z / trials)]


def order_interval(values, q, alpha):
    values, n = sorted(values), len(values)
    chance = [comb(n, k) * mpf(q) ** k * (1 - mpf(q)) ** (n - k) for k in range(n + 1)]
    low = max((k for k in range(1, n + 1) if mpmath.fsum(chance[:k]) <= mpf(alpha) / 2), default=None)
    high = min((k for k in range(1, n + 1) if mpmath.fsum(chance[k:]) <= mpf(alpha) / 2), default=None)
    return ["-inf" if low is None else values[low - 1], "inf" if high is None else values[high - 1]]


def design():
    draw = random.Random(5)
    rows = []
    for _ in range(60):
        ps = [10.0 ** -draw.uniform(0, 12) for _ in range(draw.randint(1, 30))]
        rows.append(("holm", (ps,), holm(ps)))
        rows.append(("benjamini_hochberg", (ps,), [float(p) for p in stats.false_discovery_control(ps)]))
        values = [draw.gauss(draw.choice([0, 0.01, 1e4]), 0.02) for _ in range(draw.randint(2, 40))]
        mean, variance = moments(values)
        rows.append(("mean", (values,), real(mean)))
        rows.append(("variance", (values,), real(variance)))
        theta = draw.choice([0.0198, 0.05, 0.2])
        values = [draw.gauss(draw.choice([0, 0.01, 0.3]), 0.02) for _ in range(draw.randint(3, 40))]
        mean, variance = moments(values)
        p = 2 * t_survival(abs(real(mean)) / mpmath.sqrt(real(variance) / len(values)), len(values) - 1)
        rows.append(("p_difference", (values,), p))
        rows.append(("p_equivalence", (values, theta), tost(values, theta)))
        other = [draw.gauss(0.01, 0.05) for _ in range(draw.randint(3, 40))]
        rows.append(("welch", (values, other), float(stats.ttest_ind(values, other, equal_var=False).pvalue)))
        q = draw.choice([0.5, 0.9, 0.99, draw.uniform(0.01, 0.99)])
        sample = [draw.lognormvariate(0, 1) for _ in range(draw.randint(2, 60))]
        rows.append(("harrell_davis", (sample, q), harrell_davis(sample, q)))
        alpha = draw.choice([0.05, 0.01, 0.2])
        rows.append(("quantile_interval", (sample, q, alpha), order_interval(sample, q, alpha)))
        count = draw.randint(2, 500)
        rows.append(("confidence_sequence_half_width", (count, 0.02, alpha), half_width(count, 0.02, alpha)))
        trials = int(10 ** draw.uniform(0, 6))
        successes = draw.randint(0, trials)
        if 0 < successes:
            rows.append(("wilson_interval", (successes, trials, alpha), wilson(successes, trials, alpha)))
        left = exact(sample)
        centre = sum(left) / len(left)
        square = Fraction(len(left) - 1, len(left)) * sum((v - centre) ** 2 for v in left)
        rows.append(("jackknife", (sample,), mpmath.sqrt(real(square))))
    for _ in range(20):
        count, processes, iterations = draw.randint(2, 5), draw.randint(2, 4), draw.randint(2, 6)
        boots = []
        for _ in range(count):
            boot = draw.gauss(0, 2)
            boots.append([])
            for _ in range(processes):
                centre = draw.gauss(boot, 1)
                boots[-1].append([draw.gauss(centre, 0.5) for _ in range(iterations)])
        flat = [value for boot in boots for process in boot for value in process]
        rows.append(("nested", (flat, processes, iterations), nested(boots)))
    for _ in range(25):
        count = draw.randint(10, 40)
        cuts = sorted(draw.randint(0, count) for _ in range(draw.randint(0, 2)))
        level = lambda i: 4.0 * sum(i >= cut for cut in cuts)
        series = [round(draw.gauss(level(i), 1), 6) for i in range(count)]
        rows.append(("change_points", (series, 0.5), change_points(series, 0.5) or ["none"]))
    write("design", rows)


if __name__ == "__main__":
    distributions()
    noncentral()
    rank_tests()
    fisher()
    design()
