//! The catalogue as a whole, the workloads of the scheduler, and `command`, really run.

use super::*;

pub fn every_declaration_is_sound() {
    let mut ids = BTreeSet::new();
    for entry in assembly::catalogue().workloads {
        let description = entry.describe();
        assert!(ids.insert(description.id), "{} is twice in the catalogue", description.id);
        for word in ["What it is", "What it means", "When it lies", "Reference"] {
            assert!(description.doc.contains(word), "{}: {word}", description.id);
        }
        let place = TestMachine::new();
        let parameters = match description.id {
            "command" => parameters("command", &[("run", "true")]),
            "http" => http::small(&place),
            "service" => service::small(),
            id => parameters(id, &[]),
        };
        let configured = configured(description.id, &parameters).unwrap();
        let expected_ns = configured.facts().expected_ns;
        // iozone sleeps for several seconds around each of its seven operations.
        let most_ns = if description.id == "iozone" { 40_000_000_000 } else { 15_000_000_000 };
        assert!(
            (300_000_000..most_ns).contains(&expected_ns),
            "{} takes {expected_ns} ns with its defaults",
            description.id
        );
        let metrics = configured.metrics();
        let unique: BTreeSet<&str> = metrics.iter().map(|metric| metric.id.as_str()).collect();
        assert_eq!(unique.len(), metrics.len(), "{}", description.id);
    }
}

pub fn messaging_delivers_every_message() {
    for transport in ["socketpair", "pipe"] {
        for tasks in ["process", "thread"] {
            let place = TestMachine::new();
            let parameters = parameters(
                "messaging",
                &[
                    ("groups", "2"),
                    ("fan", "3"),
                    ("loops", "20"),
                    ("size", "5000"),
                    ("transport", transport),
                    ("tasks", tasks),
                ],
            );
            let measurement = place.run("messaging", &parameters);
            assert_eq!(measurement.operations, Some(2 * 3 * 3 * 20));
            assert!(values(&measurement, "makespan")[0] > 0.0);
        }
    }
}

pub fn pipe_keeps_its_placement() {
    let cpus = sys::affinity(0).unwrap().len();
    for tasks in ["process", "thread"] {
        for placement in ["free", "same_cpu", "cross_cpu"] {
            if placement == "cross_cpu" && cpus < 2 {
                testing::unsupported("cross_cpu needs two CPUs");
                continue;
            }
            let settings = [("loops", "505"), ("placement", placement), ("tasks", tasks)];
            let measurement = TestMachine::new().run("pipe", &parameters("pipe", &settings));
            assert_eq!(measurement.operations, Some(505));
            assert_eq!(values(&measurement, "time_per_operation").len(), 10);
            let (same, messages) = proportion(&measurement, "same_cpu_fraction");
            assert_eq!(messages, 1010);
            match placement {
                "same_cpu" => assert_eq!(same, messages),
                "cross_cpu" => assert_eq!(same, 0),
                _ => {}
            }
        }
    }
}

pub fn pipe_refuses_two_cpus_where_it_has_one() {
    let mut place = TestMachine::new();
    let first = sys::affinity(0).unwrap().iter().next().unwrap();
    place.launch.affinity = Some(std::iter::once(first).collect());
    let settings = [("loops", "10"), ("placement", "cross_cpu")];
    let parameters = parameters("pipe", &settings);
    let Err(error) =
        configured("pipe", &parameters).and_then(|one| one.prepare(&place.machine, &place.launch))
    else {
        panic!("one CPU was enough")
    };
    assert!(error.remedy.contains("affinity"), "{error}");
}

pub fn cyclic_counts_every_period() {
    for (missed, pin) in [("count", "true"), ("count", "false"), ("skip", "false")] {
        let settings = [
            ("threads", "2"),
            ("interval", "1ms"),
            ("distance", "1ms"),
            ("duration", "40ms"),
            ("missed", missed),
            ("pin", pin),
        ];
        let parameters = parameters("cyclic", &settings);
        let measurement = TestMachine::new().run("cyclic", &parameters);
        let cycles = measurement.operations.unwrap();
        if missed == "count" {
            assert_eq!(cycles, 40 + 20);
        } else {
            assert!((1..=60).contains(&cycles), "{cycles}");
        }
        assert_eq!(histogram_count(&measurement, "latency"), cycles);
        assert_eq!(proportion(&measurement, "late_fraction").1, cycles);
    }
    let too_short = [("interval", "1s"), ("duration", "100ms")];
    assert_eq!(conflicts("cyclic", &parameters("cyclic", &too_short)).len(), 1);
}

pub fn latt_answers_every_burst() {
    let settings = [
        ("clients", "3"),
        ("work", "4k"),
        ("min_sleep", "1ms"),
        ("max_sleep", "3ms"),
        ("duration", "40ms"),
    ];
    let measurement = TestMachine::new().run("latt", &parameters("latt", &settings));
    let entries = measurement.operations.unwrap();
    assert!(entries >= 3 && entries.is_multiple_of(3), "{entries}");
    for source in ["response_time", "turnaround_time", "work_time"] {
        assert_eq!(histogram_count(&measurement, source), entries, "{source}");
    }
    let wrong = [("min_sleep", "5ms"), ("max_sleep", "1ms")];
    assert_eq!(conflicts("latt", &parameters("latt", &wrong)).len(), 1);
}

pub fn wakeup_measures_in_a_closed_loop() {
    run_before_neighbours();
    for (desks, workers, lock) in [("1", "2", "true"), ("2", "3", "false")] {
        let settings = [
            ("message_threads", desks),
            ("workers", workers),
            ("operations", "1"),
            ("footprint", "4k"),
            ("lock", lock),
            ("warmup", "5ms"),
            ("duration", "60ms"),
        ];
        let look = || TestMachine::new().run("wakeup", &parameters("wakeup", &settings));
        let measurement = look_until(look, |one| one.operations.unwrap() > 10);
        let requests = measurement.operations.unwrap();
        assert!(requests > 10, "{requests}");
        let wakeups = histogram_count(&measurement, "wakeup_latency");
        // Each worker has at most one wake-up whose request did not end in time.
        assert!(wakeups.abs_diff(requests) <= 6, "{wakeups} wake-ups, {requests} requests");
        assert_eq!(histogram_count(&measurement, "request_latency"), requests);
    }
}

pub fn wakeup_sends_at_its_rate_in_an_open_loop() {
    let settings = [
        ("operations", "1"),
        ("footprint", "4k"),
        ("think", "0"),
        ("warmup", "10ms"),
        ("duration", "100ms"),
        ("rate", "1000"),
        ("arrivals", "fixed"),
    ];
    let fixed = parameters("wakeup", &settings);
    let measurement = TestMachine::new().run("wakeup", &fixed);
    let requests = measurement.operations.unwrap();
    assert!((99..=101).contains(&requests), "{requests}");
    for source in ["request_latency", "service_time", "generator_lateness"] {
        assert_eq!(histogram_count(&measurement, source), requests, "{source}");
    }
    assert!(!facts("wakeup", &fixed).is_closed_loop);
    let poisson = [&settings[..6], &[("arrivals", "poisson")]].concat();
    let first = TestMachine::new().run("wakeup", &parameters("wakeup", &poisson));
    let second = TestMachine::new().run("wakeup", &parameters("wakeup", &poisson));
    assert_eq!(first.operations, second.operations, "the seed decides when requests are due");
}

pub fn scenarios_run_in_their_regime() {
    run_before_neighbours();
    for mix in ["cpu_bound", "io_bound", "mixed", "high_context_switch", "streaming"] {
        let settings = [
            ("mix", mix),
            ("tasks", "2"),
            ("duration", "300ms"),
            ("operations", "1"),
            ("footprint", "64k"),
        ];
        let parameters = parameters("scenario", &settings);
        let measurement = TestMachine::new().run("scenario", &parameters);
        if mix == "streaming" {
            assert_eq!(measurement.operations, Some(2 * 30));
        } else {
            assert!(measurement.operations.unwrap() > 2, "{mix}");
        }
        let place = TestMachine::new();
        let mut load = place.prepare("scenario", &parameters).unwrap();
        load.run().unwrap();
        let nothing_used = RunReport { wall_ns: 1_000_000_000, ..RunReport::default() };
        let error = load.verify(&nothing_used).unwrap_err();
        assert!(error.contains(mix), "{error}");
    }
}

fn command(
    run: &[&str],
    settings: &[(&str, &str)],
    metrics: &[(&str, &[(&str, &str)])],
) -> Parameters {
    let mut all = settings.to_vec();
    all.push(("run", "true"));
    let mut parameters = parameters("command", &all);
    let words = run.iter().map(|word| (*word).to_owned()).collect();
    parameters.0.insert("run".to_owned(), ParameterValue::Words(words));
    let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    let tables: BTreeMap<String, BTreeMap<String, String>> = metrics
        .iter()
        .map(|(id, keys)| ((*id).to_owned(), keys.iter().map(owned).collect()))
        .collect();
    parameters.0.insert("metrics".to_owned(), ParameterValue::Table(tables));
    parameters
}

pub fn command_reports_what_a_program_used_and_said() {
    let place = TestMachine::new();
    let directory = place.launch.scratch.display().to_string();
    let script = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; pwd; \
                  echo 'speed 12.5 ms'; echo 'speed 13 ms'; echo oops >&2; exit 3";
    let metrics: &[(&str, &[(&str, &str)])] =
        &[("speed", &[("regex", r"speed ([\d.]+)"), ("direction", "lower"), ("unit", "ms")])];
    let settings = [("expect_exit", "3"), ("directory", directory.as_str())];
    let measurement = place.run("command", &command(&["sh", "-c", script], &settings, metrics));
    assert_eq!(values(&measurement, "speed"), [12.5e6, 13e6]);
    for source in ["wall_time", "cpu_time", "max_rss"] {
        assert!(values(&measurement, source)[0] > 0.0, "{source}");
    }
    let log = std::fs::read_to_string(&place.launch.log).unwrap();
    assert!(log.contains("speed 13 ms") && log.contains("oops"), "{log}");
    assert!(log.contains(&directory), "{log}");
    // No shell: the words reach the program as they are.
    let literal: &[(&str, &[(&str, &str)])] =
        &[("kept", &[("regex", r"^\$HOME;(\d)$"), ("direction", "lower")])];
    place.run("command", &command(&["echo", "$HOME;1"], &[], literal));
}

pub fn command_turns_every_failure_into_an_error() {
    let unmatched: &[(&str, &[(&str, &str)])] =
        &[("speed", &[("regex", r"speed (\d)"), ("direction", "lower")])];
    let long = "i=0; while [ $i -lt 200 ]; do echo 0123456789; i=$((i+1)); done";
    let runs_on = "while :; do echo 0123456789; done";
    let limit = [("output_limit", "1k")];
    for (parameters, why) in [
        (command(&["false"], &[], &[]), "exit code 1"),
        (command(&["sh", "-c", "echo no disk >&2; exit 4"], &[], &[]), "no disk"),
        (command(&["sh", "-c", "kill -9 $$"], &[], &[]), "signal 9"),
        (command(&["true"], &[], unmatched), "nothing matches"),
        (command(&["sh", "-c", long], &limit, &[]), "longer than 1k"),
        (command(&["sh", "-c", runs_on], &limit, &[]), "longer than 1k"),
    ] {
        let place = TestMachine::new();
        let error = place.prepare("command", &parameters).unwrap().run().unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    let place = TestMachine::new();
    for run in [&["no-such-program"][..], &["/etc/passwd"], &["./no-such-program"]] {
        let missing = command(run, &[], &[]);
        let prepared = configured("command", &missing)
            .and_then(|one| one.prepare(&place.machine, &place.launch));
        let Err(error) = prepared else { panic!("{run:?} was found") };
        assert_eq!(error.kind, contract::ErrorKind::Unsupported, "{error}");
        let unmet = |need: &contract::Requirement| need.met(&place.machine).is_err();
        assert!(facts("command", &missing).requirements.iter().any(unmet));
    }
    // A file that may be executed but is no program is told apart from one that fails.
    let fake = place.launch.scratch.join("fake");
    std::fs::write(&fake, "no program").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&fake, mode).unwrap();
    let parameters = command(&[fake.to_str().unwrap()], &[], &[]);
    let error = place.prepare("command", &parameters).unwrap().run().unwrap_err();
    assert!(error.to_string().contains("cannot execute"), "{error}");
}

/// Small parameters of every workload that needs nothing of a user.
fn small(id: &str) -> Parameters {
    parameters(id, workload(id).brief())
}

/// What the catalogue lists is run here without another word; what more is true of it is a case of
/// its own.
pub fn every_workload_runs_briefly() {
    for entry in assembly::catalogue().workloads {
        let id = entry.describe().id;
        // A service that runs already, a bank that is built, the real iozone: their own cases have
        // what stands for these.
        if ["http", "bank", "iozone"].contains(&id) {
            continue;
        }
        let Some(place) = storage::place_for(id) else { continue };
        let parameters = if id == "service" { service::small() } else { small(id) };
        let needs = facts(id, &parameters).requirements;
        if let Some(missing) = needs.iter().find_map(|need| need.met(&place.machine).err()) {
            testing::unsupported(&format!("{id}: {}: {}", missing.what, missing.why));
            continue;
        }
        place.run(id, &parameters);
        nothing_is_left();
    }
}

pub fn a_load_that_never_ran_leaves_nothing() {
    for entry in assembly::catalogue().workloads {
        let id = entry.describe().id;
        // It has to be built first; its end-to-end tests hold that it leaves nothing.
        if id == "bank" {
            continue;
        }
        let Some(place) = storage::place_for(id) else { continue };
        let parameters = match id {
            "http" => http::small(&place),
            "service" => service::small(),
            _ => small(id),
        };
        let needs = facts(id, &parameters).requirements;
        if id != "http"
            && let Some(missing) = needs.iter().find_map(|need| need.met(&place.machine).err())
        {
            testing::unsupported(&format!("{id}: {}: {}", missing.what, missing.why));
            continue;
        }
        // Nobody serves for it: that is asked before anything is prepared.
        let prepared = match id {
            "http" => configured(id, &parameters)
                .and_then(|one| one.prepare(&place.machine, &place.launch)),
            _ => place.prepare(id, &parameters),
        };
        drop(prepared.unwrap());
        nothing_is_left();
        let left = std::fs::read_dir(&place.launch.scratch).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        let is_file_of_its =
            |name: &std::ffi::OsString| name.to_string_lossy().starts_with("schedlab-files");
        assert!(!left.iter().any(is_file_of_its), "{id}: {left:?}");
    }
    let threads = [("fan", "2"), ("loops", "10"), ("tasks", "thread")];
    drop(TestMachine::new().prepare("messaging", &parameters("messaging", &threads)).unwrap());
    drop(TestMachine::new().prepare("wakeup", &parameters("wakeup", &[("rate", "100")])).unwrap());
}

pub fn tasks_exist_before_the_run() {
    let machine = TestMachine::new().machine;
    let own = i32::try_from(std::process::id()).unwrap();
    let threads = || machine.thread_ids(own).unwrap().len() - 1;
    for (id, expected_threads) in [("wakeup", 3), ("cyclic", 2)] {
        let load = TestMachine::new().prepare(id, &small(id)).unwrap();
        assert_eq!(threads(), expected_threads, "{id}");
        drop(load);
        nothing_is_left();
    }
    for (id, expected_children) in [("messaging", 4), ("latt", 2), ("pipe", 2), ("command", 1)] {
        let load = TestMachine::new().prepare(id, &small(id)).unwrap();
        assert_eq!(children(&machine).len(), expected_children, "{id}");
        drop(load);
    }
}

pub fn children(machine: &Machine) -> Vec<i32> {
    let own = std::process::id();
    let parent = |pid: i32| {
        let status = machine.read(&format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().any(|line| line == format!("PPid:\t{own}"))
    };
    machine.process_ids().unwrap().into_iter().filter(|pid| parent(*pid)).collect()
}

pub fn a_killed_task_is_an_error_and_not_a_hang() {
    for id in ["messaging", "latt", "pipe", "command"] {
        let place = TestMachine::new();
        let mut load = place.prepare(id, &small(id)).unwrap();
        let victim = children(&place.machine)[0];
        // SAFETY: the victim is a child of ours that has not been reaped.
        unsafe { libc::kill(victim, libc::SIGKILL) };
        let error = load.run().unwrap_err();
        assert!(!error.cause.is_empty(), "{id}");
        drop(load);
        nothing_is_left();
    }
}
