//! What a stored plan cannot say. Neither the planner nor an importer writes any of it, so a plan
//! with a fault was edited, or another program wrote it. A reader refuses it before anything is
//! computed from it.

use crate::{ClaimedEffect, Metric, Plan, Reduction, VmSettings, WorkloadPlan};
use std::collections::BTreeSet;

/// Numbers of blocks leave room for those that run again.
const LARGEST_INDEX: u32 = u32::MAX / 2;
/// All expected times together, nanoseconds (292 years); sums of them are counted in 64 bits.
const LONGEST_NS: u128 = u64::MAX as u128 / 2;

impl Plan {
    /// The first field that has a value which no plan has, and what it may be: `None` where there is
    /// none. Names that stand in one place for what another place holds are not compared.
    pub fn fault(&self) -> Option<String> {
        self.fault_of_subjects()
            .or_else(|| self.fault_of_workloads())
            .or_else(|| self.fault_of_blocks())
            .or_else(|| self.fault_of_questions())
            .or_else(|| self.fault_of_venues())
            .or_else(|| self.fault_of_times())
    }

    fn fault_of_subjects(&self) -> Option<String> {
        if self.subjects.is_empty() {
            return Some("subjects is empty: the first is the reference".to_owned());
        }
        let ids = self.subjects.iter().map(|subject| subject.id.as_str());
        repeated(ids).map(|id| format!("subjects: the id `{id}` is empty or stands twice"))
    }

    fn fault_of_workloads(&self) -> Option<String> {
        if self.workloads.is_empty() {
            return Some("workloads is empty: nothing would run".to_owned());
        }
        let labels = self.workloads.iter().map(|workload| workload.label.as_str());
        if let Some(label) = repeated(labels) {
            return Some(format!("workloads: the label `{label}` is empty or stands twice"));
        }
        self.workloads.iter().find_map(|workload| {
            let fault = fault_of_workload(workload)?;
            Some(format!("workloads {} {fault}", workload.label))
        })
    }

    fn fault_of_blocks(&self) -> Option<String> {
        if self.blocks.is_empty() && self.imported.is_none() {
            return Some("blocks is empty: nothing would run".to_owned());
        }
        let mut seen = BTreeSet::new();
        for block in &self.blocks {
            let index = block.index;
            if index > LARGEST_INDEX || !seen.insert(index) {
                return Some(format!("blocks: the index {index} is too large or stands twice"));
            }
            let count = block.sittings.len();
            let is_beyond = |boot: u32| boot as usize >= count;
            if block.sittings.iter().any(|sitting| sitting.boot.is_some_and(is_beyond)) {
                return Some(format!("blocks {index} boot: {count} sittings share fewer boots"));
            }
        }
        None
    }

    fn fault_of_questions(&self) -> Option<String> {
        let is_rate = self.alpha > 0.0 && self.alpha < 1.0;
        if !is_rate {
            return Some(format!("alpha is {}, and lies above 0 and below 1", self.alpha));
        }
        if self.boots == Some(0) {
            return Some("boots is 0, and is absent where blocks are not spread".to_owned());
        }
        if self.looks.first() == Some(&0) || self.looks.windows(2).any(|two| two[0] >= two[1]) {
            return Some(format!("looks is {:?}, and ascends from 1", self.looks));
        }
        if let Some(blocks) = self.ended_at_look.filter(|blocks| !self.looks.contains(blocks)) {
            return Some(format!("ended_at_look is {blocks}, and is one of looks"));
        }
        for case in &self.use_cases {
            let is_none = |weight: f64| weight.is_nan() || weight <= 0.0;
            if let Some(one) = case.weights.iter().find(|one| is_none(one.weight)) {
                return Some(format!(
                    "use_cases {} weight is {}, and lies above 0",
                    case.id, one.weight
                ));
            }
        }
        self.claims.iter().find_map(|claim| match claim.effect {
            ClaimedEffect::Change(change) if change.is_nan() || change <= -1.0 => {
                Some(format!("claims effect is {change}, and lies above -1"))
            }
            _ => None,
        })
    }

    fn fault_of_venues(&self) -> Option<String> {
        if self.pace.is_some_and(|pace| pace.duration_ns == 0) {
            return Some("pace duration_ns is 0: no block would begin".to_owned());
        }
        let rates = self.sim.iter().flat_map(|sim| &sim.failure_rate);
        let mut beyond = rates.filter(|(_, rate)| !(0.0..=1.0).contains(*rate));
        if let Some((subject, rate)) = beyond.next() {
            return Some(format!("sim failure_rate {subject} is {rate}, and lies from 0 to 1"));
        }
        let vm = self.vm.as_ref()?;
        let memory = VmSettings::MEMORY;
        if !memory.contains(&vm.memory_bytes) {
            let (found, least, most) = (vm.memory_bytes, memory.start(), memory.end());
            return Some(format!("vm memory_bytes is {found}, and lies from {least} to {most}"));
        }
        let is_no_time = vm.boot_timeout_ns == 0;
        is_no_time.then(|| "vm boot_timeout_ns is 0: no guest would boot".to_owned())
    }

    /// Whether the expected times add up to more than is counted.
    fn fault_of_times(&self) -> Option<String> {
        let each_ns = |workload: &WorkloadPlan| {
            let variants = workload.variants.values().map(|variant| variant.expected_ns);
            let longest = variants.chain([workload.expected_ns]).max().unwrap_or_default();
            u128::from(longest) * u128::from(workload.invocations)
        };
        let longest_ns = self.workloads.iter().map(each_ns).max().unwrap_or_default();
        let setting_ns = self.setting_ns.values().max().copied().unwrap_or_default();
        let trial_ns = longest_ns + u128::from(self.settle_ns) + u128::from(setting_ns);
        let every_ns = self.pace.map_or(0, |pace| pace.every_ns);
        let sittings: usize = self.blocks.iter().map(|block| block.sittings.len()).sum();
        // Each sitting has a boot at most.
        let sitting_ns = u128::from(self.rest_ns) + u128::from(self.boot_expected_ns());
        let all = [
            (self.trial_count(), trial_ns),
            (sittings, sitting_ns),
            (self.blocks.len(), u128::from(every_ns)),
        ];
        let sum = all.iter().try_fold(0_u128, |sum, (count, each_ns)| {
            sum.checked_add(each_ns.checked_mul(*count as u128)?)
        });
        let is_longer = sum.is_none_or(|sum| sum > LONGEST_NS);
        is_longer.then(|| {
            "workloads expected_ns, with invocations, settle_ns, rest_ns and setting_ns: together \
             they are longer than is counted"
                .to_owned()
        })
    }
}

/// The first name that is empty or stands twice.
fn repeated<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = BTreeSet::new();
    names.find(|name| name.is_empty() || !seen.insert(*name))
}

fn fault_of_workload(workload: &WorkloadPlan) -> Option<String> {
    if workload.invocations == 0 {
        return Some("invocations is 0: nothing would run".to_owned());
    }
    if let Some(id) = repeated(workload.metrics.iter().map(|metric| metric.id.as_str())) {
        return Some(format!("metrics: the id `{id}` is empty or stands twice"));
    }
    workload.metrics.iter().find_map(|metric| {
        let fault = fault_of_metric(metric)?;
        Some(format!("metrics {} {fault}", metric.id))
    })
}

fn fault_of_metric(metric: &Metric) -> Option<String> {
    let Metric { margin, resolution, .. } = metric;
    // What is no number fails both comparisons, and so is a fault, too.
    let is_margin = *margin > 0.0 && *margin <= 1.0;
    if !is_margin {
        return Some(format!("margin is {margin}, and lies above 0 and is at most 1"));
    }
    let is_step = *resolution >= 0.0 && resolution.is_finite();
    if !is_step {
        return Some(format!("resolution is {resolution}, and is a number from 0 on"));
    }
    match metric.reduction {
        Reduction::Quantile(quantile) if !(0.0..=1.0).contains(&quantile) => {
            Some(format!("reduction is the quantile {quantile}, and lies from 0 to 1"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::fixtures::PLAN;
    use crate::{
        Block, Direction, Metric, Pace, Plan, Reduction, SimSettings, Sitting, Subject, Unit,
        VmSettings, WorkloadPlan,
    };
    use std::collections::BTreeMap;

    fn plan() -> Plan {
        let metric = |id: &str, reduction| {
            Metric::new(id, Unit::Nanoseconds, Direction::Lower, reduction, "for tests")
        };
        let workloads = ["w"].into_iter().collect();
        let sitting = Sitting { subject: "a".into(), workloads, boot: None };
        let block = |index| Block { index, sittings: vec![sitting.clone()] };
        let subject = Subject { id: "a".to_owned(), levels: BTreeMap::new(), is_control: false };
        let workload = r#"{"label":"w","uses":"w","parameters":{},"invocations":1,"metrics":[],"primary":["time"],"background":null,"subjects":[],"expected_ns":1,"time_limit_ns":1,"is_closed_loop":false}"#;
        let workload = WorkloadPlan {
            metrics: vec![
                metric("time", Reduction::Median),
                metric("p99", Reduction::Quantile(0.99)),
            ],
            ..serde_json::from_str(workload).unwrap()
        };
        Plan {
            venue: "host".to_owned(),
            subjects: vec![subject],
            workloads: vec![workload],
            blocks: vec![block(0), block(1)],
            ..serde_json::from_str(PLAN).unwrap()
        }
    }

    fn sim(rate: f64) -> SimSettings {
        let failure_rate = BTreeMap::from([("a".to_owned(), rate)]);
        SimSettings { scenario: "S1".to_owned(), failure_rate }
    }

    type Edit = (fn(&mut Plan), &'static str);

    const EDITS: &[Edit] = &[
        (|plan| plan.subjects.clear(), "subjects is empty"),
        (
            |plan| plan.subjects.push(plan.subjects[0].clone()),
            "the id `a` is empty or stands twice",
        ),
        (|plan| plan.workloads.clear(), "workloads is empty"),
        (|plan| plan.workloads[0].label.clear(), "the label `` is empty"),
        (
            |plan| plan.workloads.push(plan.workloads[0].clone()),
            "workloads: the label `w` is empty or stands twice",
        ),
        (|plan| plan.workloads[0].invocations = 0, "workloads w invocations is 0"),
        (
            |plan| plan.workloads[0].metrics[1].id = "time".to_owned(),
            "workloads w metrics: the id `time` is empty or stands twice",
        ),
        (|plan| plan.workloads[0].metrics[0].id.clear(), "workloads w metrics: the id `` is empty"),
        (|plan| plan.workloads[0].metrics[0].margin = -0.02, "metrics time margin is -0.02"),
        (|plan| plan.workloads[0].metrics[0].margin = 0.0, "metrics time margin is 0"),
        (|plan| plan.workloads[0].metrics[0].margin = f64::NAN, "metrics time margin is NaN"),
        (|plan| plan.workloads[0].metrics[0].margin = 1.5, "metrics time margin is 1.5"),
        (|plan| plan.workloads[0].metrics[1].resolution = -1.0, "metrics p99 resolution is -1"),
        (
            |plan| plan.workloads[0].metrics[1].reduction = Reduction::Quantile(99.0),
            "metrics p99 reduction is the quantile 99",
        ),
        (|plan| plan.blocks.clear(), "blocks is empty"),
        (|plan| plan.blocks[1].index = 0, "blocks: the index 0 is too large or stands twice"),
        (|plan| plan.blocks[1].index = u32::MAX, "blocks: the index 4294967295 is too large"),
        (|plan| plan.blocks[0].sittings[0].boot = Some(7), "blocks 0 boot"),
        (|plan| plan.alpha = 0.0, "alpha is 0"),
        (|plan| plan.alpha = f64::NAN, "alpha is NaN"),
        (|plan| plan.boots = Some(0), "boots is 0"),
        (|plan| plan.looks = vec![4, 4], "looks is [4, 4]"),
        (|plan| plan.looks = vec![0, 4], "looks is [0, 4]"),
        (|plan| plan.ended_at_look = Some(4), "ended_at_look is 4"),
        (|plan| plan.workloads[0].expected_ns = u64::MAX, "workloads expected_ns"),
        (|plan| plan.rest_ns = u64::MAX, "rest_ns"),
        (|plan| plan.pace = Some(Pace { duration_ns: 0, every_ns: 0 }), "pace duration_ns is 0"),
        (|plan| plan.sim = Some(sim(2.0)), "sim failure_rate a is 2"),
        (|plan| plan.sim = Some(sim(f64::NAN)), "sim failure_rate a is NaN"),
        (
            |plan| plan.vm = Some(VmSettings { memory_bytes: 1, ..VmSettings::default() }),
            "vm memory_bytes is 1",
        ),
        (
            |plan| plan.vm = Some(VmSettings { boot_timeout_ns: 0, ..VmSettings::default() }),
            "vm boot_timeout_ns is 0",
        ),
    ];

    #[test]
    fn a_value_that_no_plan_has_is_named_with_its_field() {
        assert_eq!(plan().fault(), None);
        for (change, words) in EDITS {
            let mut edited = plan();
            change(&mut edited);
            let fault = edited.fault().unwrap_or_default();
            assert!(fault.contains(words), "{words}: {fault}");
        }
    }
}
