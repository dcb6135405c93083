//! What a sitting leaves behind for the next (docs/method.md#m-carry-over): a subject after its own
//! sitting against the same subject after another's.

use crate::observations::Observations;
use crate::order_origin::OrderOrigin;
use crate::pairs::Pairs;
use crate::rulebook::{CarryOver, Hiding};
use crate::trial_facts::is_order_known;
use model::{Plan, Question, p_equation};
use stats::{TTest, WithCovariates, coefficient_beside, mean};

/// Level at which what came before counts as felt.
const LEVEL: f64 = 0.04;

/// Level below which what came before may be felt: a difference must then be shown beside it as well.
/// In ten blocks the test at [`LEVEL`] seldom sees a carry-over of two per cent.
const DOUBTED_LEVEL: f64 = 0.2;

/// The same of an order that schedlab did not draw: nothing balances it, so that a carry-over of one per
/// cent makes a difference that the test sees more seldom still.
const DOUBTED_LEVEL_OF_OTHERS: f64 = 0.7;

/// Level below which what came before may hide a difference: an equivalence must then be shown beside
/// it as well. Of an order that nobody balanced that is asked whatever the test says.
const HIDING_LEVEL: f64 = 0.6;

/// Fewer degrees of freedom make no test of what came before: as many as the t has of the five
/// blocks that a verdict needs. In one boot seven blocks of two subjects leave so many, and eight of
/// more: the first sitting follows none, and one or two covariates vary.
const LEAST_DEGREES: f64 = 4.0;

/// Level at which what came before counts as felt by one of the two alone. It is an effect of the order
/// inside the block, at the level of `ORDER_EFFECT`: of campaigns without it one in a hundred is held
/// to what stands beside it.
const ALONE_LEVEL: f64 = 0.01;

/// A difference is one of order alone where less than this share of it is left beside what came
/// before.
const LEAST_LEFT: f64 = 0.5;

/// What of these pairs' differences may be due to whose sitting came before.
#[derive(Debug, Clone, Default)]
pub(crate) struct Predecessors {
    /// p that it does not matter; none where that was not tested.
    pub p: Option<f64>,
    pub carry_over: Option<CarryOver>,
    /// What is left of the difference beside what came before, where that is less than half, or is
    /// not shown where what came before may be felt; or that one of the two alone feels it.
    pub order_alone: Option<String>,
    /// What is left beside what came before, where all blocks together show that the difference lies
    /// inside the margin, or that it is no worse than that.
    pub hiding_order: Option<Hiding>,
    /// The least that it may be beside what came before, one-sided at the plan's level, where what came
    /// before may hide a difference.
    pub least_beside: Option<f64>,
}

/// What all blocks together show, and how large a difference matters.
#[derive(Clone, Copy)]
pub(crate) struct Whole<'a> {
    pub test: Option<&'a TTest>,
    /// Whether that is one of all blocks together, and not of their differences.
    pub is_pooled: bool,
    /// Logarithm of one plus the margin.
    pub theta: f64,
}

impl Whole<'_> {
    /// Whether it shows a difference in either direction, each asked for itself as a gate asks it.
    fn may_differ(self, alpha: f64) -> bool {
        let p = self.test.and_then(|test| test.p_difference());
        p.is_some_and(|p| p < 2.0 * alpha)
    }
}

/// Whether the differences of these pairs depend on whose sitting came before, and whether they
/// are differences without that.
///
/// Nothing is said of replicates that are not blocks, nor of numbers that were imported without an
/// order.
pub(crate) fn predecessors(
    plan: &Plan,
    observations: &Observations<'_>,
    pairs: &Pairs,
    question: &Question,
    whole: Whole<'_>,
) -> Predecessors {
    if !is_order_known(plan) || pairs.differences.len() != pairs.blocks.len() {
        return Predecessors::default();
    }
    let (mut differences, mut covariates, mut followed) = (Vec::new(), Vec::new(), Vec::new());
    for block in &pairs.blocks {
        let before =
            |subject: &str| observations.predecessor(block.block, subject, &question.workload);
        let (Some(subject), Some(reference)) =
            (before(&question.subject), before(&question.reference))
        else {
            continue;
        };
        let is_after = |one: &str, whose: &str| f64::from(u8::from(are_alike(plan, one, whose)));
        let after = |whose: &str| is_after(subject, whose) - is_after(reference, whose);
        differences.push(block.log_difference);
        covariates.push([after(&question.subject), after(&question.reference)]);
        followed
            .push([is_after(subject, &question.reference), is_after(reference, &question.subject)]);
    }
    let rows = Rows { differences, covariates, followed, origin: OrderOrigin::of(plan) };
    let of_blocks = match whole.is_pooled {
        true => TTest::of(&pairs.differences),
        false => whole.test.copied(),
    };
    let hidden = Hidden {
        by_all: of_blocks,
        difference: mean(&pairs.differences).unwrap_or_default(),
        theta: whole.theta,
        alpha: plan.alpha,
    };
    rows.say(&hidden, whole.may_differ(plan.alpha))
}

/// Blocks of which the records say what both sittings followed.
struct Rows {
    /// Oriented log differences.
    differences: Vec<f64>,
    /// Whether the subject followed the subject less whether the reference did, and the same of the
    /// reference: what is left behind reaches both alike.
    covariates: Vec<[f64; 2]>,
    /// Whether the subject followed the reference, and the reference the subject.
    followed: Vec<[f64; 2]>,
    /// What tells which came before.
    origin: OrderOrigin,
}

/// One of the two feels what came before, and the other does not.
struct FeltByOne {
    /// How sure that is.
    p: f64,
    /// How much of a difference that may be.
    size: f64,
    /// The mean of sittings that do not follow the other's.
    neither: Option<TTest>,
}

impl Rows {
    /// What they say of a difference, of which all blocks together show this.
    fn say(&self, asked: &Hidden, may_differ: bool) -> Predecessors {
        let Hidden { difference, alpha, .. } = *asked;
        let felt_by_one = self.felt_by_one();
        let felt = felt_by_one.as_ref();
        let alone = felt.and_then(|felt| self.made_by_one(felt, difference, alpha));
        let [before, of_others] = [
            format!("beside {}", what_came_before(self.origin)),
            format!("of {}", felt_by(self.origin)[1]),
        ];
        let hides_alone = felt.and_then(|felt| asked.without(&of_others, felt.neither.as_ref()));
        let least_alone = felt.map(|felt| asked.least(felt.neither.as_ref()));
        let Some(fit) = WithCovariates::of(&self.differences, &self.covariates) else {
            return Predecessors {
                order_alone: alone,
                hiding_order: hides_alone,
                least_beside: least_alone,
                ..Predecessors::default()
            };
        };
        let p = (fit.degrees >= LEAST_DEGREES).then_some(fit.p);
        let is_felt = p.is_some_and(|p| p < LEVEL);
        let carry_over = is_felt.then(|| {
            let shows_the_same = fit.mean.is_some_and(|test| shows(&test, difference, alpha));
            let detail = format!(
                "the difference depends on {}, {} over {} blocks",
                what_came_before(self.origin),
                p_equation(fit.p),
                self.differences.len()
            );
            CarryOver { detail, shows_the_same }
        });
        let doubted = match self.origin {
            OrderOrigin::Measured => DOUBTED_LEVEL,
            OrderOrigin::Column | OrderOrigin::Times | OrderOrigin::Rows => DOUBTED_LEVEL_OF_OTHERS,
        };
        let may_be_felt = p.is_some_and(|p| p < doubted) && may_differ;
        let of_test = |test: TTest| order_alone(&test, difference, may_be_felt, alpha, self.origin);
        let may_hide = p.filter(|p| self.origin != OrderOrigin::Measured || *p < HIDING_LEVEL);
        let hides = may_hide.and_then(|_| asked.without(&before, fit.mean.as_ref()));
        let least = may_hide.map(|_| asked.least(fit.mean.as_ref()));
        Predecessors {
            p,
            carry_over,
            order_alone: fit.mean.and_then(of_test).or(alone),
            hiding_order: Hiding::surest(hides, hides_alone),
            least_beside: least.into_iter().chain(least_alone).reduce(f64::min),
        }
    }

    /// What speaks for a dependence on what came before that one of the two feels and the other does
    /// not.
    fn felt_by_one(&self) -> Option<FeltByOne> {
        let column =
            |index: usize| -> Vec<f64> { self.covariates.iter().map(|row| row[index]).collect() };
        let others = [vec![1.0; self.differences.len()], column(0), column(1)];
        let alone: Vec<f64> = self.followed.iter().map(|[own, other]| own - other).collect();
        let felt = coefficient_beside(&self.differences, &alone, &others)?;
        let is_felt = |p: &f64| *p < ALONE_LEVEL && felt.degrees >= LEAST_DEGREES;
        let p = felt.p_difference().filter(is_felt)?;
        let fit = WithCovariates::of(&self.differences, &self.followed);
        // Of two subjects the coefficient is half of what the one of them feels.
        let size = 2.0 * felt.mean.abs();
        Some(FeltByOne { p, size, neither: fit.and_then(|fit| fit.mean) })
    }

    /// That a difference may be what one of the two feels: that may be half of it or more, and no such
    /// difference is shown of sittings that do not follow the other's.
    fn made_by_one(&self, felt: &FeltByOne, difference: f64, alpha: f64) -> Option<String> {
        if felt.size < LEAST_LEFT * difference.abs() {
            return None;
        }
        let is_shown = felt.neither.is_some_and(|test| shows(&test, difference, alpha));
        let [is_felt_by, others] = felt_by(self.origin);
        (!is_shown).then(|| {
            format!(
                "{is_felt_by} one of the two alone, {}, and of {others} no such difference is shown",
                p_equation(felt.p)
            )
        })
    }
}

/// What the order may hide: what all blocks together show of the margin.
struct Hidden {
    /// What they show.
    by_all: Option<TTest>,
    /// Their difference.
    difference: f64,
    /// Logarithm of one plus the margin.
    theta: f64,
    alpha: f64,
}

impl Hidden {
    /// How sure that is of what is left without what came before, where all blocks show it.
    fn without(&self, without: &str, left: Option<&TTest>) -> Option<Hiding> {
        // Inside the margin, and no worse than it.
        let of = |test: &TTest| [test.p_equivalence(self.theta), test.p_above(-self.theta)];
        let by_all = self.by_all.as_ref().map_or([None; 2], of);
        let by_rest = left.map_or([None; 2], of);
        let shown = by_all.into_iter().zip(by_rest);
        let shown = shown.filter(|(by_all, _)| by_all.is_some_and(|p| p < self.alpha));
        let p = shown.map(|(_, by_rest)| by_rest.unwrap_or(1.0)).reduce(f64::max)?;
        let difference = percent(self.difference);
        let detail = match left {
            Some(left) => format!(
                "{without} it is {} instead of {difference}, which is not shown to lie inside the margin",
                percent(left.mean)
            ),
            None => format!("{without} nothing shows that {difference} lie inside the margin"),
        };
        Some(Hiding { detail, p, alpha: self.alpha })
    }

    /// The least that what is left may be.
    fn least(&self, left: Option<&TTest>) -> f64 {
        left.map_or(f64::MIN, |left| left.interval(2.0 * self.alpha).0)
    }
}

/// Whether a test shows a difference in the direction of this one.
fn shows(test: &TTest, difference: f64, alpha: f64) -> bool {
    test.mean * difference > 0.0 && test.p_difference().is_some_and(|p| p < alpha)
}

/// A difference, in percent.
fn percent(log: f64) -> String {
    format!("{} %", model::signed_percent(log.exp_m1(), 1))
}

/// What a value may depend on, as far as what tells the order shows it: of rows nothing shows that
/// one was measured before the other.
fn what_came_before(origin: OrderOrigin) -> &'static str {
    match origin {
        OrderOrigin::Measured => "whose sitting came before",
        OrderOrigin::Column => "whose values came before, as a column of the file tells",
        OrderOrigin::Times => "whose values came before, by the times that the files hold",
        OrderOrigin::Rows => "whose rows stand before in the file",
    }
}

/// What one of the two alone feels, and the values that cannot feel it, as far as what tells the order
/// shows them.
fn felt_by(origin: OrderOrigin) -> [&'static str; 2] {
    match origin {
        OrderOrigin::Measured => {
            ["what came before is felt by", "sittings that did not follow the other's"]
        }
        OrderOrigin::Column => [
            "what came before, as a column of the file tells, is felt by",
            "values that did not follow the other's",
        ],
        OrderOrigin::Times => [
            "what came before, by the times that the files hold, is felt by",
            "values that did not follow the other's",
        ],
        OrderOrigin::Rows => {
            ["the rows before in the file tell of", "rows that do not follow the other's"]
        }
    }
}

/// What speaks for a difference of order alone: less than half of it is left beside what came
/// before, or it is not shown beside that, where the values may depend on it.
fn order_alone(
    beside: &TTest,
    difference: f64,
    may_be_felt: bool,
    alpha: f64,
    origin: OrderOrigin,
) -> Option<String> {
    let before = what_came_before(origin);
    let (left, whole) = (percent(beside.mean), percent(difference));
    if beside.mean * difference.signum() < LEAST_LEFT * difference.abs() {
        return Some(format!("beside {before}, {left} of {whole} are left"));
    }
    let p = beside.p_difference().unwrap_or(1.0);
    (may_be_felt && p >= alpha).then(|| {
        format!("beside {before}, the {left} that are left of {whole} have {}", p_equation(p))
    })
}

/// Whether two subjects leave the same behind: the control is a twin of the reference.
fn are_alike(plan: &Plan, one: &str, other: &str) -> bool {
    let twin = |id: &str| {
        let is_control = plan.subject(id).is_some_and(|subject| subject.is_control);
        if is_control { plan.reference().id.clone() } else { id.to_owned() }
    };
    one == other || twin(one) == twin(other)
}

#[cfg(test)]
mod tests {
    use super::order_alone;
    use crate::fixtures::{in_blocks, metric, plan, record};
    use crate::order_origin::OrderOrigin;
    use crate::{GateLimit, GateOutcome, gate, judge};
    use model::{
        CaveatCode, Direction, Finding, ImportedOrder, Metric, Obstacle, Plan, Record, Reduction,
        Sample, Verdict,
    };
    use stats::TTest;

    const NOISE: [f64; 8] = [0.4, -0.6, 0.2, -0.3, 0.7, -0.5, 0.1, 0.3];

    /// Twelve blocks of `a` and `b` in the order of `first`, of which each sitting after one of
    /// `a` is slower by so much, and `b` is by so much.
    fn judged(first: &str, left_behind: f64, effect: f64) -> (Verdict, Option<Obstacle>, bool) {
        let noise = |sitting: usize| 0.002 * NOISE[(sitting * 5 + sitting / 16) % 8];
        judged_in(first, noise, 0.02, left_by_a(left_behind), effect)
    }

    /// What each sitting after one of `a` takes longer.
    fn left_by_a(size: f64) -> impl Fn(&str, Option<&str>) -> f64 {
        move |_, before| if before == Some("a") { size } else { 0.0 }
    }

    /// Normal noise of 1 %, nearly.
    fn noise_of(seed: u64) -> impl FnMut(usize) -> f64 {
        let mut state = seed;
        move |_| {
            let mut sum = 0.0;
            for _ in 0..12 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed | 1);
                sum += (state >> 40) as f64 / 16_777_216.0;
            }
            0.01 * (sum - 6.0)
        }
    }

    /// The same with this noise of each sitting, this margin, and what a sitting of a subject after one
    /// of another takes longer.
    fn judged_in(
        first: &str,
        noise: impl FnMut(usize) -> f64,
        margin: f64,
        felt: impl Fn(&str, Option<&str>) -> f64,
        effect: f64,
    ) -> (Verdict, Option<Obstacle>, bool) {
        let (plan, records) = campaign(first, noise, margin, felt, effect);
        let finding = judge(&plan, &records).findings.remove(0);
        (finding.verdict, finding.obstacle, is_told(&finding))
    }

    /// Whether a finding says that the difference depends on what came before.
    fn is_told(finding: &Finding) -> bool {
        finding.caveats.iter().any(|caveat| {
            caveat.code == CaveatCode::CarryOver
                && caveat.detail.starts_with("the difference depends")
        })
    }

    fn campaign(
        first: &str,
        mut noise: impl FnMut(usize) -> f64,
        margin: f64,
        felt: impl Fn(&str, Option<&str>) -> f64,
        effect: f64,
    ) -> (Plan, Vec<Record>) {
        let mut records: Vec<Record> = Vec::new();
        let mut before: Option<&str> = None;
        for (block, first) in first.chars().enumerate() {
            let order = if first == 'a' { ["a", "b"] } else { ["b", "a"] };
            for (position, subject) in order.into_iter().enumerate() {
                let noise = noise(records.len());
                let after = felt(subject, before);
                let own = if subject == "b" { effect } else { 0.0 };
                let samples = vec![Sample::values("m", vec![100.0 * (1.0 + noise + after + own)])];
                let mut next = record(block as u32, subject, "w", vec![samples]);
                next.position = position as u32;
                next.sequence = records.len() as u64;
                "one".clone_into(&mut next.boot_id);
                records.push(next);
                before = Some(subject);
            }
        }
        let metric = metric("m", Direction::Lower, Reduction::Median);
        let metrics = vec![Metric { margin, ..metric }];
        (plan(&["a", "b"], metrics, first.len() as u32), records)
    }

    #[test]
    fn a_finding_says_of_what_came_before_only_what_was_tested() {
        let noise = |sitting: usize| 0.002 * NOISE[(sitting * 5 + sitting / 16) % 8];
        let told = |first: &str, is_booted: bool| {
            let (plan, mut records) = campaign(first, noise, 0.02, left_by_a(0.0), 0.0);
            for record in records.iter_mut().filter(|_| is_booted) {
                record.boot_id = format!("boot {}", record.sequence);
            }
            let diagnostics = judge(&plan, &records).findings.remove(0).diagnostics.unwrap();
            assert!(diagnostics.p_order.is_some(), "{first}");
            diagnostics.p_predecessor
        };
        assert!(told("aabbabaababa", false).is_some());
        assert_eq!(told("aabbab", false), None, "three degrees of freedom");
        assert_eq!(told("aabbabaababa", true), None, "the machine was booted before each sitting");
    }

    #[test]
    fn what_a_sitting_leaves_behind_is_no_difference_between_the_subjects() {
        // Orders that are not serially balanced: b follows a in most blocks, a itself in few.
        let orders = "aabbabaababa";
        assert_eq!(judged(orders, 0.0, 0.0), (Verdict::Equivalent, None, false));
        assert_eq!(
            judged(orders, 0.06, 0.0),
            (Verdict::Inconclusive, Some(Obstacle::CarryOver), true)
        );
        // A difference that stands beside it is one.
        assert_eq!(judged(orders, 0.06, 0.3), (Verdict::Worse, None, true));
    }

    #[test]
    fn a_difference_that_the_order_hides_is_no_equivalence() {
        // `b` follows `a` in ten blocks of twelve, and is quicker by what it then loses: of 3 % the
        // means of all blocks show 0.5 %.
        let hidden = judged("aaaaaabaaaaa", 0.03, -0.03);
        assert_eq!(hidden, (Verdict::Inconclusive, Some(Obstacle::HidingOrder), true));
        // Nothing is hidden of subjects that leave nothing behind, nor of a difference that is shown.
        assert_eq!(judged("aaaaaabaaaaa", 0.0, 0.0), (Verdict::Equivalent, None, false));
        assert_eq!(judged("aaaaaabaaaaa", 0.0, -0.3).0, Verdict::Better);
        // A limit is kept by what is shown beside the order as well.
        let of = |left_behind: f64, effect: f64| {
            let noise = |sitting: usize| 0.002 * NOISE[(sitting * 5 + sitting / 16) % 8];
            let (plan, records) =
                campaign("aaaaaabaaaaa", noise, 0.02, left_by_a(left_behind), effect);
            let findings = judge(&plan, &records);
            let limit =
                GateLimit { workload: String::new(), metric: "m".to_owned(), fraction: 0.02 };
            let results = gate(&findings, &[limit]).unwrap();
            (results[0].outcome, results[0].reason.clone())
        };
        assert_eq!(of(0.0, 0.0).0, GateOutcome::Kept);
        assert_eq!(of(0.0, -0.3).0, GateOutcome::Kept);
        // The limit has an edge of its own: a wider one than the margin is breached beside the order, and a
        // narrower one.
        let at = |limit: f64, left_behind: f64, effect: f64| {
            let noise = |sitting: usize| 0.002 * NOISE[(sitting * 5 + sitting / 16) % 8];
            let (plan, records) =
                campaign("aaaaaabaaaaa", noise, 0.02, left_by_a(left_behind), effect);
            let findings = judge(&plan, &records);
            let limit =
                GateLimit { workload: String::new(), metric: "m".to_owned(), fraction: limit };
            gate(&findings, &[limit]).unwrap()[0].outcome
        };
        assert_eq!(at(0.06, -0.045, 0.07), GateOutcome::Inconclusive);
        assert_eq!(at(0.007, -0.011, 0.0115), GateOutcome::Inconclusive);
        assert_eq!(at(0.1, -0.045, 0.07), GateOutcome::Kept);
        // `a` is quicker after itself, and `b` after `a`, by as much as `b` is slower.
        let (outcome, reason) = of(-0.03, 0.03);
        assert_eq!(outcome, GateOutcome::Inconclusive, "{reason}");
        assert!(reason.contains("may hide that the limit is breached"), "{reason}");
    }

    #[test]
    fn imported_blocks_with_an_order_are_asked_what_came_before_and_others_not_observed() {
        // An order as somebody may have drawn it: b follows a in nine blocks, a itself in two.
        let of = |order: Option<ImportedOrder>, left_behind: f64, effect: f64| {
            let noise = |sitting: usize| 0.002 * NOISE[(sitting * 5 + sitting / 16) % 8];
            let (plan, records) =
                campaign("aaabaaabaaab", noise, 0.001, left_by_a(left_behind), effect);
            let plan = Plan { imported: order.map(in_blocks), ..plan };
            judge(&plan, &records).findings.remove(0)
        };
        let (measured, drawn) = (of(None, 0.03, 0.0), of(Some(ImportedOrder::Unknown), 0.03, 0.0));
        assert_eq!((measured.verdict, is_told(&measured)), (Verdict::Inconclusive, true));
        assert_eq!((drawn.verdict, is_told(&drawn)), (Verdict::Worse, false), "nobody looked");
        assert_eq!(drawn.diagnostics.unwrap().p_order, None, "not observed");
        for order in [ImportedOrder::Column, ImportedOrder::Rows] {
            for (left_behind, effect) in [(0.03, 0.0), (0.0, 0.0), (0.0, 0.1), (0.03, 0.3)] {
                let (measured, imported) =
                    (of(None, left_behind, effect), of(Some(order), left_behind, effect));
                assert_eq!(
                    (imported.verdict, imported.strength, imported.obstacle),
                    (measured.verdict, measured.strength, measured.obstacle),
                    "{left_behind} {effect}"
                );
                assert_eq!(codes(&imported), codes(&measured));
                assert_eq!(imported.diagnostics, measured.diagnostics);
            }
        }
    }

    fn codes(finding: &Finding) -> Vec<CaveatCode> {
        finding.caveats.iter().map(|caveat| caveat.code).collect()
    }

    #[test]
    fn what_came_before_is_said_as_far_as_what_tells_the_order_shows_it() {
        let noise = |sitting: usize| 0.002 * NOISE[(sitting * 5 + sitting / 16) % 8];
        let told = |order: Option<ImportedOrder>| {
            let (plan, records) = campaign("aaabaaabaaab", noise, 0.001, left_by_a(0.03), 0.0);
            let plan = Plan { imported: order.map(in_blocks), ..plan };
            let finding = judge(&plan, &records).findings.remove(0);
            let of_order = [CaveatCode::CarryOver, CaveatCode::OrderEffect];
            let caveats = finding.caveats.iter().filter(|one| of_order.contains(&one.code));
            let details: Vec<String> = caveats.map(|caveat| caveat.detail.clone()).collect();
            format!("{} {}", details.join(" "), finding.reason.unwrap_or_default())
        };
        let measured = told(None);
        assert!(measured.contains("whose sitting came before"), "{measured}");
        let column = told(Some(ImportedOrder::Column));
        assert!(column.contains("came before, as a column of the file tells"), "{column}");
        assert!(!column.contains("sitting"), "{column}");
        let rows = told(Some(ImportedOrder::Rows));
        assert!(rows.contains("whose rows stand before in the file"), "{rows}");
        for word in ["sitting", "ran", "came", "felt"] {
            assert!(!rows.split(' ').any(|one| one == word), "{word}: {rows}");
        }
    }

    #[test]
    fn an_order_that_nobody_balanced_is_doubted_sooner() {
        let of = |order: Option<ImportedOrder>, seed: u64| {
            // As somebody may have drawn it: `b` follows `a` in most blocks.
            let (plan, records) =
                campaign("aabaaabaabaa", noise_of(seed), 0.0001, left_by_a(0.01), 0.0);
            let plan = Plan { imported: order.map(in_blocks), ..plan };
            judge(&plan, &records).findings.remove(0)
        };
        let (mut different, mut of_measured) = (0, 0);
        for seed in 0..200 {
            let is_different =
                |finding: &Finding| matches!(finding.verdict, Verdict::Better | Verdict::Worse);
            let imported = of(Some(ImportedOrder::Rows), seed);
            different += u32::from(is_different(&imported));
            let measured = of(None, seed);
            of_measured += u32::from(is_different(&measured));
            // The same test, asked sooner.
            assert!(!is_different(&imported) || is_different(&measured), "{seed}");
            if is_different(&measured) && !is_different(&imported) {
                assert_eq!(imported.obstacle, Some(Obstacle::OrderAlone), "{seed}");
            }
        }
        assert!(of_measured > different && different > 0, "{different} and {of_measured} of 200");
    }

    #[test]
    fn fewer_than_seven_blocks_of_two_subjects_are_too_few_to_test_it() {
        let is_told = |orders: &str| judged(orders, 0.06, 0.0).2;
        assert!(!is_told("aabbab"), "three degrees of freedom");
        assert!(is_told("aabbaba"), "four degrees of freedom");
    }

    #[test]
    fn in_orders_that_are_serially_balanced_it_cancels() {
        assert_eq!(judged("abababababab", 0.03, 0.0), (Verdict::Equivalent, None, false));
        assert_eq!(judged("abababababab", 0.03, 0.1), (Verdict::Worse, None, false));
    }

    #[test]
    fn a_difference_of_which_less_than_half_is_left_beside_the_order_is_none() {
        // Twelve blocks as they are drawn, noise of 1 %, and 1.5 % that each sitting of `a` leaves.
        let mut found = Vec::new();
        for seed in 0..200_u64 {
            let left = left_by_a(0.015);
            found.push(judged_in("abbaabbaabba", noise_of(seed), 0.0001, left, 0.0).1);
        }
        let unseen = found.iter().filter(|one| **one == Some(Obstacle::OrderAlone)).count();
        assert!(unseen > 14, "{unseen} that the test of carry-over does not see");
    }

    /// Forty blocks in orders as they are drawn: a coin after every two.
    fn drawn_orders(seed: u64) -> String {
        let mut state = 2 * seed + 1;
        let pair = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005);
            state = state.wrapping_add(1_442_695_040_888_963_407);
            if state >> 63 == 1 { "ab" } else { "ba" }
        };
        (0..20).map(pair).collect()
    }

    #[test]
    fn what_one_subject_alone_feels_is_no_difference_between_them() {
        let (mut withheld, mut kept) = (0, 0);
        for seed in 0..60 {
            let orders = drawn_orders(seed);
            // No order cancels that: `b` follows `a` more often than itself.
            let by_b = |subject: &str, before: Option<&str>| {
                if (subject, before) == ("b", Some("a")) { 0.05 } else { 0.0 }
            };
            let (verdict, obstacle, _) = judged_in(&orders, noise_of(seed), 0.0001, by_b, 0.0);
            let is_of_order = matches!(obstacle, Some(Obstacle::OrderAlone | Obstacle::CarryOver));
            withheld += u32::from(verdict == Verdict::Inconclusive && is_of_order);
            // A difference of that size is one.
            let found = judged_in(&orders, noise_of(seed), 0.0001, |_, _| 0.0, 0.05);
            kept += u32::from(found.0 == Verdict::Worse);
        }
        assert!(withheld >= 54, "{withheld} of 60");
        assert!(kept >= 57, "{kept} of 60");
    }

    #[test]
    fn where_what_came_before_may_be_felt_a_difference_is_shown_beside_it_too() {
        let beside = |mean: f64| TTest {
            mean,
            standard_deviation: 0.01,
            standard_error: 0.005,
            degrees: 7.0,
            skew: 0.0,
        };
        // t = 1.6 and 3.0 on seven degrees: p = 0.154 and 0.020 (scipy.stats.t).
        let order_alone = |beside: &TTest, difference: f64, may_be_felt: bool, alpha: f64| {
            order_alone(beside, difference, may_be_felt, alpha, OrderOrigin::Measured)
        };
        let told = order_alone(&beside(0.008), 0.012, true, 0.05).unwrap();
        assert!(told.ends_with("the +0.8 % that are left of +1.2 % have p = 0.154"), "{told}");
        assert_eq!(order_alone(&beside(0.008), 0.012, false, 0.05), None);
        assert_eq!(order_alone(&beside(0.015), 0.016, true, 0.05), None);
        let told = order_alone(&beside(0.005), 0.012, false, 0.05).unwrap();
        assert!(told.ends_with("+0.5 % of +1.2 % are left"), "{told}");
    }
}
