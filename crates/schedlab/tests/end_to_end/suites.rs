//! The suites that are delivered: each plans, whole and quick.

use contract::{
    BootKnob, BootSpec, Catalogue, Description, Factor, Knob, Requirement, Result, TrialCatalogue,
};
use model::{Claimed, Fingerprint, Level, Plan};
use plan::PlanRequest;
use std::path::{Path, PathBuf};

/// A boot factor that takes any text, where the catalogue has none of that name.
struct Any(&'static Description);

static ANY: [Any; 3] = [
    Any(&Description { id: "kernel", summary: "the kernel", doc: "" }),
    Any(&Description { id: "cmdline", summary: "its command line", doc: "" }),
    Any(&Description { id: "vcpus", summary: "the processors", doc: "" }),
];

impl BootKnob for Any {
    fn contribute(&self, _: &Level, _: &mut BootSpec) -> Result<()> {
        Ok(())
    }

    fn read_back(&self, _: &Fingerprint, _: &BootSpec, wanted: &Level) -> Level {
        wanted.clone()
    }
}

impl Factor for Any {
    fn describe(&self) -> &'static Description {
        self.0
    }

    fn syntax(&self) -> &'static str {
        "any text"
    }

    fn examples(&self) -> &'static [&'static str] {
        &["any"]
    }

    fn parse(&self, text: &str) -> std::result::Result<Level, String> {
        Ok(Level::canonical(text))
    }

    fn requires(&self, _: &Level) -> Vec<Requirement> {
        Vec::new()
    }

    fn knob(&self) -> Knob<'_> {
        Knob::Boot(self)
    }
}

fn catalogue() -> Catalogue {
    let own = schedlab::catalogue();
    let lacking = ANY.iter().filter(|any| own.factor(any.0.id).is_none());
    let lacking = lacking.map(|any| any as &'static dyn Factor);
    let factors: Vec<&'static dyn Factor> = own.factors.iter().copied().chain(lacking).collect();
    let trials = TrialCatalogue { factors: factors.leak(), ..own.trials };
    Catalogue { trials, ..own }
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

fn planned(file: &Path, is_quick: bool) -> Plan {
    // Paths in suites are those of somebody who runs them from the top of the repository.
    let top = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let text = std::fs::read_to_string(file).unwrap();
    let text = text.replace("= \"suites/", &format!("= \"{top}suites/"));
    let name = file.file_stem().unwrap().to_str().unwrap();
    let request = PlanRequest { text: &text, name, is_quick, ..PlanRequest::default() };
    plan::plan(&catalogue(), probes::DEFAULT, &request).unwrap_or_else(|problems| {
        panic!("{}", plan::render_problems(&problems, &file.display().to_string(), &text))
    })
}

fn suite(name: &str, is_quick: bool) -> Plan {
    let all = files();
    planned(all.iter().find(|file| file.file_stem().unwrap() == name).unwrap(), is_quick)
}

#[test]
fn every_suite_plans_whole_and_quick() {
    assert!(files().len() >= 4);
    for file in files() {
        let whole = planned(&file, false);
        let quick = planned(&file, true);
        assert!(quick.blocks.len() >= 5, "quick never goes below five blocks");
        assert!(quick.expected_ns() <= whole.expected_ns(), "{}", file.display());
    }
}

#[test]
fn every_claim_of_a_study_that_a_suite_is_said_to_ask_is_one_of_that_suite() {
    let mut count = 0;
    for name in studies::names() {
        for asked in studies::find(name).unwrap().asked {
            let plan = suite(&asked.suite, false);
            let is_asked = plan.claims.iter().any(|claim| claim.says == asked.says);
            assert!(is_asked, "{name} {}: {} lacks `{}`", asked.id, asked.suite, asked.says);
            count += 1;
        }
    }
    assert_eq!(count, 29);
}

#[test]
fn a_quick_cfs_against_eevdf_is_four_subjects_and_three_workloads_in_five_blocks() {
    let plan = suite("cfs-vs-eevdf", true);
    let subjects: Vec<&str> =
        plan.subjects.iter().filter(|s| !s.is_control).map(|s| s.id.as_str()).collect();
    assert_eq!(subjects, ["cfs", "cfs-balanced", "eevdf-6-12-balanced", "eevdf-6-18-balanced"]);
    let workloads: Vec<&str> = plan.workloads.iter().map(|w| w.label.as_str()).collect();
    assert_eq!(workloads, ["wakeup", "messaging", "latt"]);
    assert_eq!(plan.blocks.len(), 5);
    // Three kernels, and one of them again for the control.
    assert!(plan.blocks.iter().all(|block| block.boot_count() == 4));
    let minutes = plan.expected_ns() / 60_000_000_000;
    assert!(minutes < 8, "{minutes} min leave too little room for an emulated processor");
    // Of the five configurations the balanced one is asked about, on both kernels.
    let has = |side: &Claimed| plan.subjects.iter().any(|subject| side.includes(subject));
    let asked = plan.claims.iter().filter(|claim| has(&claim.subject) && has(&claim.reference));
    let asked: Vec<String> = asked.map(|claim| claim.subject.to_string()).collect();
    assert_eq!(asked, ["eevdf-6-12-balanced", "eevdf-6-18-balanced"]);
}

#[test]
fn cfs_is_mapped_by_the_ratio_of_the_base_slices() {
    let plan = suite("cfs-vs-eevdf", false);
    assert_eq!(plan.subjects.len(), 3 * 5 + 1);
    let ns = |subject: &str, factor: &str| -> f64 {
        let level = &plan.subject(subject).unwrap().levels[factor];
        model::parse_duration(level.as_str()).unwrap() as f64
    };
    for name in ["", "-low-latency", "-high-throughput", "-balanced", "-minimal-migration"] {
        let (cfs, eevdf) = (format!("cfs{name}"), format!("eevdf-6-12{name}"));
        let ratio = ns(&eevdf, "base_slice") / ns("eevdf-6-12", "base_slice");
        for factor in ["sched_latency", "min_granularity", "wakeup_granularity"] {
            let own = ns(&cfs, factor) / ns("cfs", factor);
            assert!((own / ratio - 1.0).abs() < 1e-3, "{cfs} {factor}: {own} for {ratio}");
        }
        for factor in ["migration_cost", "nr_migrate"] {
            let level = |id: &str| plan.subject(id).unwrap().levels[factor].clone();
            assert_eq!(level(&cfs), level(&eevdf));
            assert_eq!(level(&eevdf), level(&format!("eevdf-6-18{name}")));
        }
    }
}

#[test]
fn the_five_configurations_share_a_boot_and_numbers_of_processors_do_not() {
    let configurations = suite("eevdf-configs", false);
    assert!(configurations.blocks.iter().all(|block| block.boot_count() == 1));
    let processors = suite("multicore", false);
    assert!(processors.blocks.iter().all(|block| block.boot_count() == 4));
}
