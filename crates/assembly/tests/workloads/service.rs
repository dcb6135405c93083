//! Services that are started, loaded, checked and stopped: a small Python program.

use super::{
    TestMachine, configured, conflicts, facts, histogram_count, parameters, proportion, quotient,
    values,
};
use crate::http::unused;
use model::{ParameterValue, Parameters, RunReport};
use std::path::PathBuf;

/// Small programs for a service's life.
fn suites() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../suites/service"))
}

/// The small service with these words, under a short load.
fn tiny(words: &str, settings: &[(&str, &str)]) -> Parameters {
    let address = unused();
    let program = suites().join("tiny.py");
    let start = format!("/usr/bin/python3 {} --port {} {words}", program.display(), address.port());
    let (address, scenario) = (address.to_string(), suites().join("tiny-load.toml"));
    let scenario = scenario.display().to_string();
    let own = [
        ("start", start.as_str()),
        ("address", address.as_str()),
        ("scenario", scenario.as_str()),
        ("ready", "/health"),
        ("arrivals", "constant"),
        ("warm_up", "100ms"),
        ("duration", "600ms"),
    ];
    let others = own.into_iter().filter(|(name, _)| !settings.iter().any(|(own, _)| own == name));
    parameters("service", &others.chain(settings.iter().copied()).collect::<Vec<_>>())
}

/// Parameters of a service that is hardly loaded.
pub fn small() -> Parameters {
    tiny("", &[])
}

/// Why preparing, running or verifying failed.
fn failure(parameters: &Parameters) -> String {
    let place = TestMachine::new();
    let mut load = match place.prepare("service", parameters) {
        Ok(load) => load,
        Err(error) => return error.one_line(),
    };
    match load.run() {
        Ok(_) => load.verify(&RunReport::default()).unwrap_err(),
        Err(error) => error.one_line(),
    }
}

pub fn starts_loads_checks_and_stops_a_program() {
    let place = TestMachine::new();
    let measurement = place.run("service", &tiny("--ready-s 0.2", &[]));
    // Three minutes are declared for its start, its warming up and its end.
    let patient = [("ready_within", "120s"), ("steady_within", "50s"), ("stop_within", "10s")];
    let patience_ns = |process| {
        facts("service", &tiny("", &[&patient[..], &[("process", process)]].concat())).patience_ns
    };
    assert_eq!((patience_ns("fresh"), patience_ns("warm")), (180_000_000_000, 0));
    assert_eq!(histogram_count(&measurement, "count_latency"), 30);
    assert_eq!(histogram_count(&measurement, "work_latency"), 90);
    assert_eq!(proportion(&measurement, "failed"), (0, 120));
    let (cpu_ns, answers) = quotient(&measurement, "service_cpu");
    assert!(cpu_ns >= 1e7 && (answers - 140.0).abs() < 0.5, "{cpu_ns} {answers}");
    assert!(values(&measurement, "service_memory")[0] > 5e6);
    let ready_ns = values(&measurement, "ready_after")[0];
    assert!((200e6..60e9).contains(&ready_ns), "{ready_ns}");
}

pub fn tests_whether_it_is_warm() {
    // A machine that cannot answer so many requests is asked a quarter of them, in longer windows.
    let looks = [("60s", "300ms", "2"), ("120s", "1200ms", "0.5")];
    let place = TestMachine::new();
    let warmed = looks.into_iter().find_map(|(within, window, scale)| {
        let settings =
            [("steady_within", within), ("window", window), ("ramp_up", "0s"), ("scale", scale)];
        match place.prepare("service", &tiny("--slow-s 3 --steps 20000", &settings)) {
            Ok(mut load) => {
                let measurement = load.run().unwrap();
                load.verify(&RunReport::default()).unwrap();
                Some(measurement)
            }
            Err(error) => {
                let why = error.one_line();
                assert!(why.contains("did not become steady"), "{why}");
                println!("{why}");
                None
            }
        }
    });
    let measurement = warmed.unwrap_or_else(|| panic!("it never became steady"));
    let steady_ns = values(&measurement, "steady_after")[0];
    assert!(steady_ns > 2.5e9, "it was taken for warm after {steady_ns} ns");
    let impatient = [("steady_within", "2s"), ("window", "300ms"), ("scale", "2")];
    let why = failure(&tiny("--slow-s 30 --steps 20000", &impatient));
    assert!(why.contains("did not become steady"), "{why}");
}

pub fn names_a_check_that_fails() {
    let why = failure(&tiny("--lose 7", &[]));
    assert!(why.contains("check after the load failed") && why.contains("`books`"), "{why}");
    // 5 of the 35 that came.
    assert!(why.contains("broken: 30 of 35"), "{why}");
}

pub fn blames_a_service_that_ends() {
    let why = failure(&tiny("--die 60", &[]));
    assert!(why.contains("signal 9") && why.contains("as many as I was to take"), "{why}");
    let why = failure(&tiny("--unknown", &[]));
    assert!(why.contains("the service failed"), "{why}");
    assert!(why.contains("unrecognized arguments"), "{why}");
    let why = failure(&tiny("--ready-s 30", &[("ready_within", "300ms")]));
    assert!(why.contains("is not ready") && why.contains("connection refused"), "{why}");
    let mut why = String::new();
    for within in ["1500ms", "15s", "60s"] {
        why = failure(&tiny("", &[("ready", "/nothing"), ("ready_within", within)]));
        // On a slow machine it does not listen so soon.
        if why.contains("status 404") {
            break;
        }
    }
    assert!(why.contains("is not ready") && why.contains("status 404"), "{why}");
    let why = failure(&tiny("--deaf", &[("stop_within", "200ms")]));
    assert!(why.contains("asked to end"), "{why}");
}

pub fn refuses_what_cannot_be_meant() {
    let conflicts = |settings: &[(&str, &str)]| conflicts("service", &tiny("", settings));
    for (settings, expected) in [
        (&[("ready", "health")][..], "ready = \"health\""),
        (&[("steady_within", "2s"), ("window", "1s")], "6 windows"),
        (&[("scenario", "/nonexistent.toml")], "/nonexistent.toml"),
        (&[("address", "127.0.0.1")], "127.0.0.1"),
    ] {
        let found = conflicts(settings);
        assert!(found.len() == 1 && found[0].contains(expected), "{settings:?}: {found:?}");
    }
    let place = TestMachine::new();
    let nobody = tiny("", &[("start", "nonexistent-service --port 1")]);
    let needs = facts("service", &nobody).requirements;
    assert!(needs.iter().any(|need| need.met(&place.machine).is_err()));
    let nowhere = tiny("", &[("directory", "/nonexistent")]);
    let needs = facts("service", &nowhere).requirements;
    assert!(needs.iter().any(|need| need.met(&place.machine).is_err()));
    let files = facts("service", &tiny("", &[])).files(&place.machine);
    for name in ["python3", "tiny.py", "tiny-load.toml"] {
        assert!(files.iter().any(|path| path.ends_with(name)), "{name}: {files:?}");
    }
}

pub fn two_at_one_address_are_told_apart() {
    let place = TestMachine::new();
    let first = tiny("", &[]);
    let running = place.prepare("service", &first).unwrap();
    let why = failure(&first);
    assert!(why.contains("serves") && why.contains("already"), "{why}");
    drop(running);
    place.run("service", &first);
}

/// The small service that another program asks, which prints a rate.
fn driven(drive: &str) -> Parameters {
    let own = [("generator", "command"), ("drive", drive), ("arrivals", "poisson")];
    let mut parameters = tiny("", &own);
    let keys = [("regex", "rate ([0-9.]+)"), ("direction", "higher")];
    let keys = keys.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    let tables = [("rate".to_owned(), keys)].into();
    parameters.0.insert("metrics".to_owned(), ParameterValue::Table(tables));
    parameters
}

pub fn is_loaded_by_other_programs() {
    let place = TestMachine::new();
    let measurement = place.run("service", &driven("printf 'rate %s' 12.5"));
    assert_eq!(values(&measurement, "rate"), [12.5]);
    assert!(values(&measurement, "service_memory")[0] > 5e6);
    let why = failure(&driven("false"));
    assert!(why.contains("the generator false failed"), "{why}");
    if place.machine.program("wrk").is_none() {
        return testing::skip("wrk is not installed: ./setup --tools");
    }
    let parameters = tiny("", &[]);
    let address = parameters.0["address"].word().unwrap();
    let url = format!("http://{address}/work");
    let drive = format!("wrk -t1 -c2 -d1s --latency {url}");
    let settings = [("address", address.as_str()), ("generator", "wrk"), ("drive", &drive)];
    let settings = [&settings[..], &[("arrivals", "poisson")]].concat();
    let port = address.rsplit(':').next().unwrap().to_owned();
    let start = format!("/usr/bin/python3 {} --port {port}", suites().join("tiny.py").display());
    let settings: Vec<_> = settings.into_iter().chain([("start", start.as_str())]).collect();
    let measurement = place.run("service", &tiny("", &settings));
    let (failed, asked) = proportion(&measurement, "failed");
    assert!(failed == 0 && asked > 20, "{failed} of {asked}");
    assert!(values(&measurement, "latency_p50")[0] > 0.0);
}

pub fn refuses_generators_that_cannot_be_meant() {
    let place = TestMachine::new();
    let away = tiny("", &[("generator_cpus", "1000"), ("generator_at", "host")]);
    // Of a guest's host too, before a guest boots.
    let away = configured("service", &away).unwrap();
    let outside = away.service().unwrap().facts().host_load_requires;
    for needs in [away.facts().requirements, outside] {
        let missing = needs.iter().filter_map(|need| need.met(&place.machine).err());
        let missing: Vec<String> = missing.map(|missing| missing.what).collect();
        assert_eq!(missing, ["CPUs 1000 for the generator"]);
    }
    let conflicts = |settings: &[(&str, &str)]| conflicts("service", &tiny("", settings));
    for (settings, expected) in [
        (&[("generator", "wrk")][..], "names no program"),
        (&[("generator", "wrk"), ("drive", "wrk http://127.0.0.1")], "--latency"),
        (&[("generator", "wrk"), ("drive", "wrk --latency x")], "arrivals and scale"),
        (&[("generator", "gatling"), ("drive", "java -jar x")], "@results@"),
        (&[("generator", "command"), ("drive", "true")], "picks no figure"),
        (&[("scenario", "")], "nothing is sent"),
    ] {
        let found = conflicts(settings);
        assert!(found.iter().any(|why| why.contains(expected)), "{settings:?}: {found:?}");
    }
}
