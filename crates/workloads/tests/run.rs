//! Each workload, really run, with parameters of some tens of milliseconds.
//!
//! Workloads fork, and a fork needs a process with one thread, so this test has
//! its own `main`: each case runs in a forked child that must leave no process
//! and no thread behind. Arguments that are no options select cases by name; `--list` and
//! `--exact` are those of other test executables.

#![expect(clippy::print_stdout, reason = "a test harness reports on stdout")]
#![expect(clippy::unwrap_used, reason = "a test ends where something unexpected happens")]

#[path = "run/gateway.rs"]
mod gateway;
#[path = "run/http.rs"]
mod http;
#[path = "run/net.rs"]
mod net;
#[path = "run/reference_network.rs"]
mod reference_network;
#[path = "run/service.rs"]
mod service;
#[path = "run/storage.rs"]
mod storage;

use contract::{
    Configured, Error, LaunchSpec, Load, Measurement, Parameter, Problem, Workload, WorkloadFacts,
};
use model::{ParameterValue, Parameters, RunReport, SampleData, Usage};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use sys::Machine;

#[path = "run/io.rs"]
mod io;

/// A case that takes longer is stuck.
const LIMIT_S: u32 = 60;

const CASES: &[(&str, fn())] = &[
    ("every_declaration_is_sound", every_declaration_is_sound),
    ("every_workload_runs_briefly", every_workload_runs_briefly),
    ("messaging_delivers_every_message", messaging_delivers_every_message),
    ("pipe_keeps_its_placement", pipe_keeps_its_placement),
    ("pipe_refuses_two_cpus_where_it_has_one", pipe_refuses_two_cpus_where_it_has_one),
    ("cyclic_counts_every_period", cyclic_counts_every_period),
    ("latt_answers_every_burst", latt_answers_every_burst),
    ("wakeup_measures_in_a_closed_loop", wakeup_measures_in_a_closed_loop),
    ("wakeup_sends_at_its_rate_in_an_open_loop", wakeup_sends_at_its_rate_in_an_open_loop),
    ("scenarios_run_in_their_regime", scenarios_run_in_their_regime),
    ("gateway_answers_every_request_by_every_route", gateway::answers_every_request_by_every_route),
    ("gateway_has_more_under_way_than_sockets_hold", gateway::has_more_under_way_than_sockets_hold),
    ("gateway_costs_what_requests_cost", gateway::costs_what_requests_cost),
    ("gateway_with_one_worker_that_polls", gateway::one_worker_that_polls_never_sleeps),
    ("gateway_waits_in_every_way", gateway::waits_in_every_way_with_either_memory_and_clock),
    ("gateway_runs_each_under_its_policy", gateway::each_runs_under_its_policy),
    ("gateway_keeps_its_pins_and_its_concurrency", gateway::keeps_its_pins_and_its_concurrency),
    ("gateway_shows_a_delay_in_its_stage_alone", gateway::a_delay_shows_in_its_stage_alone),
    ("gateway_sends_at_its_rate_in_an_open_loop", gateway::sends_at_its_rate_in_an_open_loop),
    ("gateway_names_a_port_in_use", gateway::a_port_in_use_is_named),
    ("gateway_shares_its_port_with_nobody", gateway::a_port_that_somebody_shares_is_in_use),
    ("gateway_fails_where_a_stranger_comes", gateway::a_stranger_at_its_port_fails_the_run),
    ("gateway_fails_where_one_of_three_is_killed", gateway::a_killed_process_fails_the_run),
    ("http_sends_each_kind_at_its_rate", http::sends_each_kind_at_its_rate),
    ("http_counts_latency_from_due", http::counts_latency_from_when_requests_were_due),
    ("http_counts_each_failure", http::counts_each_failure_by_its_reason),
    ("http_takes_an_early_answer", http::takes_an_answer_that_comes_before_a_reset),
    ("http_counts_shares_of_failures", http::shares_of_failures_are_counted),
    ("http_waits_in_a_closed_loop", http::waits_for_each_answer_in_a_closed_loop),
    ("http_names_a_service_that_is_not_there", http::a_service_that_is_not_there_is_named),
    (
        "service_is_started_loaded_checked_and_stopped",
        service::starts_loads_checks_and_stops_a_program,
    ),
    ("service_is_tested_for_warmth", service::tests_whether_it_is_warm),
    ("service_that_fails_a_check_is_named", service::names_a_check_that_fails),
    ("service_that_ends_is_to_blame", service::blames_a_service_that_ends),
    ("service_refuses_what_cannot_be_meant", service::refuses_what_cannot_be_meant),
    ("service_is_loaded_by_other_programs", service::is_loaded_by_other_programs),
    ("service_refuses_generators", service::refuses_generators_that_cannot_be_meant),
    ("service_is_not_another_at_its_address", service::two_at_one_address_are_told_apart),
    ("net_measures_each_test_on_loopback", net::measures_each_test_on_loopback),
    ("net_sends_at_its_rate_in_an_open_loop", net::sends_at_its_rate_in_an_open_loop),
    ("net_joins_two_namespaces", net::joins_two_namespaces),
    ("net_has_a_line_with_a_delay", net::has_a_line_with_a_delay),
    ("net_leaves_the_namespace_of_its_caller", net::leaves_the_namespace_of_its_caller),
    ("net_uses_a_far_side_that_somebody_started", net::uses_a_far_side_that_somebody_started),
    ("net_refuses_what_no_far_side_serves", net::refuses_what_no_far_side_serves),
    ("net_fails_where_a_process_is_killed", net::a_killed_process_fails_the_run),
    ("net_tells_a_far_side_that_is_not_there", net::a_far_side_that_is_not_there_is_told),
    ("net_tells_a_far_side_that_resets", net::a_far_side_that_resets_is_told),
    ("net_names_a_port_in_use", net::a_port_in_use_is_named),
    (
        "iperf3_measures_each_direction_of_a_stream",
        reference_network::iperf3_measures_each_direction_of_a_stream,
    ),
    (
        "iperf3_keeps_its_bandwidth_and_counts_datagrams",
        reference_network::iperf3_keeps_its_bandwidth_and_counts_datagrams,
    ),
    ("iperf3_uses_a_server_of_the_users", reference_network::iperf3_uses_a_server_of_the_users),
    ("sockperf_measures_every_message", reference_network::sockperf_measures_every_message),
    ("iperf3_and_sockperf_say_what_is_not_there", reference_network::each_says_what_is_not_there),
    ("iperf3_and_sockperf_blame_a_killed_server", reference_network::a_killed_server_is_to_blame),
    (
        "sockperf_fails_where_its_server_is_killed_in_the_run",
        reference_network::a_server_that_is_killed_in_the_run_fails_it,
    ),
    (
        "iperf3_gives_up_a_server_that_says_nothing",
        reference_network::a_server_that_says_nothing_is_given_up,
    ),
    (
        "iperf3_and_sockperf_refuse_what_cannot_be_meant",
        reference_network::what_cannot_be_meant_is_refused,
    ),
    ("io_moves_every_record_once", io::moves_every_record_once),
    ("io_counts_what_a_stopped_thread_moved", io::counts_what_a_stopped_thread_moved),
    ("io_leaves_nothing_in_its_directory", io::leaves_nothing_in_its_directory),
    ("io_refuses_what_cannot_be_meant", io::refuses_what_cannot_be_meant),
    ("io_says_that_a_disk_is_full", io::says_that_a_disk_is_full),
    ("io_tells_a_file_system_without_o_direct", io::tells_a_file_system_without_o_direct),
    ("io_is_unfit_where_caches_cannot_be_dropped", io::is_unfit_where_caches_cannot_be_dropped),
    ("io_mix_measures_each_victim_beside_streams", io::mix_measures_each_victim_beside_streams),
    ("io_mix_refuses_what_cannot_be_meant", io::mix_refuses_what_cannot_be_meant),
    ("io_share_counts_what_each_process_moved", io::share_counts_what_each_process_moved),
    ("io_share_refuses_what_cannot_be_meant", io::share_refuses_what_cannot_be_meant),
    (
        "each_workload_asks_for_room_before_anything_runs",
        io::each_workload_asks_for_room_before_anything_runs,
    ),
    ("io_share_refuses_more_buffers_than_memory", io::share_refuses_more_buffers_than_memory),
    ("io_uses_its_part_of_a_device", io::uses_its_part_of_a_device),
    (
        "io_refuses_a_device_that_is_not_the_one_that_was_allowed",
        io::refuses_a_device_that_is_not_the_one_that_was_allowed,
    ),
    ("command_reports_what_a_program_used_and_said", command_reports_what_a_program_used_and_said),
    ("command_turns_every_failure_into_an_error", command_turns_every_failure_into_an_error),
    ("fio_does_what_it_was_asked", storage::fio_does_what_it_was_asked),
    (
        "fio_uses_a_whole_device_and_leaves_its_node",
        storage::fio_uses_a_whole_device_and_leaves_its_node,
    ),
    ("fio_runs_a_job_file_of_the_user", storage::fio_runs_a_job_file_of_the_user),
    ("fio_that_fails_is_an_error", storage::fio_that_fails_is_an_error),
    (
        "iozone_is_asked_for_its_version_run_and_read",
        storage::iozone_is_asked_for_its_version_run_and_read,
    ),
    ("iozone_that_fails_is_an_error", storage::iozone_that_fails_is_an_error),
    ("a_load_that_never_ran_leaves_nothing", a_load_that_never_ran_leaves_nothing),
    ("tasks_exist_before_the_run", tasks_exist_before_the_run),
    ("a_killed_task_is_an_error_and_not_a_hang", a_killed_task_is_an_error_and_not_a_hang),
];

fn main() {
    let options: Vec<String> = std::env::args().skip(1).collect();
    let is_list = options.iter().any(|option| option == "--list");
    let is_exact = options.iter().any(|option| option == "--exact");
    // What follows `--test-threads` is no name; cases run one after the other anyhow.
    let is_value = |index: usize| index > 0 && options[index - 1] == "--test-threads";
    let words = options.iter().enumerate().filter(|(index, word)| {
        let is_format = *index > 0 && options[index - 1] == "--format";
        !word.starts_with('-') && !is_value(*index) && !is_format
    });
    let words: Vec<&str> = words.map(|(_, word)| word.as_str()).collect();
    let is_meant = |name: &str| {
        let fits = |word: &&str| if is_exact { name == *word } else { name.contains(*word) };
        words.is_empty() || words.iter().any(fits)
    };
    let mut failed = 0;
    for (name, case) in CASES.iter().filter(|(name, _)| is_meant(name)) {
        if is_list {
            println!("{name}: test");
            continue;
        }
        let outcome = in_child(*case);
        println!("test {name} ... {}", outcome.as_ref().err().map_or("ok", String::as_str));
        failed += usize::from(outcome.is_err());
    }
    assert_eq!(failed, 0, "cases failed");
}

/// Runs a case in a process of its own and checks that it has cleaned up.
fn in_child(case: fn()) -> Result<(), String> {
    // SAFETY: this process has one thread; the child only runs the case and ends.
    let child = unsafe { libc::fork() };
    assert_ne!(child, -1, "fork failed");
    if child == 0 {
        // SAFETY: alarm(2) ends a child that is stuck.
        unsafe { libc::alarm(LIMIT_S) };
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            case();
            nothing_is_left();
        }));
        // SAFETY: the child ends here without running the parent's destructors.
        unsafe { libc::_exit(i32::from(outcome.is_err())) };
    }
    let mut status = 0;
    // SAFETY: `status` is a valid place for the child's status.
    let reaped = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(reaped, child);
    if status == 0 { Ok(()) } else { Err(format!("FAILED (wait status {status:#x})")) }
}

fn nothing_is_left() {
    // SAFETY: a null status is allowed.
    let other = unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) };
    assert_eq!(other, -1, "a child process is left");
    // A joined thread leaves /proc a moment after it has let its joiner go.
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    for _ in 0..100 {
        if threads() == 1 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("{} threads are left", threads());
}

fn workload(id: &str) -> &'static dyn Workload {
    workloads::ENTRIES.iter().copied().find(|entry| entry.describe().id == id).unwrap()
}

/// The declared defaults with these values in their place.
fn parameters(id: &str, settings: &[(&str, &str)]) -> Parameters {
    Parameter::values(workload(id).parameters(), settings)
        .unwrap_or_else(|problems| panic!("{id}: {}", Problem::joined(&problems)))
}

/// The workload with these parameters.
fn configured(id: &str, parameters: &Parameters) -> contract::Result<Box<dyn Configured>> {
    let told = |problems: Vec<Problem>| {
        Error::usage(format!("cannot configure {id}"), Problem::joined(&problems), "")
    };
    workload(id).configure(parameters).map_err(told)
}

/// What cannot be meant.
fn conflicts(id: &str, parameters: &Parameters) -> Vec<String> {
    let problems = workload(id).configure(parameters).err().unwrap_or_default();
    problems.iter().map(ToString::to_string).collect()
}

/// What is known of it before it runs.
fn facts(id: &str, parameters: &Parameters) -> WorkloadFacts {
    configured(id, parameters).unwrap().facts()
}

/// A machine, a launch and the directory both live in.
struct TestMachine {
    machine: Machine,
    launch: LaunchSpec,
    directories: Vec<tempfile::TempDir>,
}

impl TestMachine {
    fn new() -> Self {
        // Beside the build, because /tmp may be a memory file system.
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let launch = LaunchSpec {
            seed: 7,
            scratch: directory.path().to_owned(),
            log: directory.path().join("log"),
            ..LaunchSpec::default()
        };
        let machine =
            Machine::host(directory.path()).with_search_path("/usr/local/bin:/usr/bin:/bin");
        Self { machine, launch, directories: vec![directory] }
    }

    /// Keeps a directory for as long as the place.
    fn keep(&mut self, directory: tempfile::TempDir) {
        self.directories.push(directory);
    }

    fn prepare(&self, id: &str, parameters: &Parameters) -> contract::Result<Box<dyn Load>> {
        assert_eq!(conflicts(id, parameters), Vec::<String>::new());
        for need in facts(id, parameters).requirements {
            need.met(&self.machine).unwrap();
        }
        configured(id, parameters).and_then(|one| one.prepare(&self.machine, &self.launch))
    }

    /// Runs once, verifies, and checks that every metric has its data and
    /// every datum its metric.
    fn run(&self, id: &str, parameters: &Parameters) -> Measurement {
        let mut load = self.prepare(id, parameters).unwrap();
        let before = usage();
        let start_ns = sys::monotonic_ns();
        let measurement = load.run().unwrap();
        let wall_ns = sys::monotonic_ns() - start_ns;
        let after = usage();
        let report = RunReport {
            wall_ns,
            operations: measurement.operations,
            usage: Usage {
                user_ns: after.0 - before.0,
                voluntary_switches: after.1 - before.1,
                ..Usage::default()
            },
        };
        load.verify(&report).unwrap_or_else(|why| panic!("{id} {parameters:?}: {why}"));
        let declared: BTreeSet<String> = configured(id, parameters)
            .unwrap()
            .metrics()
            .into_iter()
            .map(|metric| metric.source)
            .collect();
        let given: BTreeSet<String> =
            measurement.samples.iter().map(|sample| sample.source.clone()).collect();
        assert_eq!(declared, given, "{id}");
        measurement
    }
}

/// CPU time and voluntary switches of this process and its reaped children.
fn usage() -> (u64, u64) {
    let mut sum = (0, 0);
    for who in [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN] {
        // SAFETY: all bytes zero are a valid rusage.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `usage` is a valid place for the answer.
        assert_eq!(unsafe { libc::getrusage(who, &raw mut usage) }, 0);
        let ns = |time: libc::timeval| (time.tv_sec * 1_000_000_000 + time.tv_usec * 1_000) as u64;
        sum.0 += ns(usage.ru_utime) + ns(usage.ru_stime);
        sum.1 += usage.ru_nvcsw as u64;
    }
    sum
}

fn data<'a>(measurement: &'a Measurement, source: &str) -> &'a SampleData {
    let sample = measurement.samples.iter().find(|sample| sample.source == source);
    &sample.unwrap_or_else(|| panic!("no {source}")).data
}

fn values<'a>(measurement: &'a Measurement, source: &str) -> &'a [f64] {
    let SampleData::Values(values) = data(measurement, source) else { panic!("{source}") };
    values
}

fn histogram_count(measurement: &Measurement, source: &str) -> u64 {
    let SampleData::Histogram(histogram) = data(measurement, source) else { panic!("{source}") };
    histogram.count()
}

fn quotient(measurement: &Measurement, source: &str) -> (f64, f64) {
    let SampleData::Quotient { numerator, denominator } = data(measurement, source) else {
        panic!("{source}")
    };
    (*numerator, *denominator)
}

fn proportion(measurement: &Measurement, source: &str) -> (u64, u64) {
    let SampleData::Proportion { successes, attempts } = data(measurement, source) else {
        panic!("{source}")
    };
    (*successes, *attempts)
}

fn every_declaration_is_sound() {
    let mut ids = BTreeSet::new();
    for entry in workloads::ENTRIES {
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

fn messaging_delivers_every_message() {
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

fn pipe_keeps_its_placement() {
    let cpus = sys::affinity(0).unwrap().len();
    for tasks in ["process", "thread"] {
        for placement in ["free", "same_cpu", "cross_cpu"] {
            if placement == "cross_cpu" && cpus < 2 {
                println!("skipped: cross_cpu needs two CPUs");
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

fn pipe_refuses_two_cpus_where_it_has_one() {
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

fn cyclic_counts_every_period() {
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

fn latt_answers_every_burst() {
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

fn wakeup_measures_in_a_closed_loop() {
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
        let measurement = TestMachine::new().run("wakeup", &parameters("wakeup", &settings));
        let requests = measurement.operations.unwrap();
        assert!(requests > 10, "{requests}");
        let wakeups = histogram_count(&measurement, "wakeup_latency");
        // Each worker has at most one wake-up whose request did not end in time.
        assert!(wakeups.abs_diff(requests) <= 6, "{wakeups} wake-ups, {requests} requests");
        assert_eq!(histogram_count(&measurement, "request_latency"), requests);
    }
}

fn wakeup_sends_at_its_rate_in_an_open_loop() {
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

fn scenarios_run_in_their_regime() {
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

fn command_reports_what_a_program_used_and_said() {
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

fn command_turns_every_failure_into_an_error() {
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
fn every_workload_runs_briefly() {
    for entry in workloads::ENTRIES {
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

fn a_load_that_never_ran_leaves_nothing() {
    for entry in workloads::ENTRIES {
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

fn tasks_exist_before_the_run() {
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

fn children(machine: &Machine) -> Vec<i32> {
    let own = std::process::id();
    let parent = |pid: i32| {
        let status = machine.read(&format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().any(|line| line == format!("PPid:\t{own}"))
    };
    machine.process_ids().unwrap().into_iter().filter(|pid| parent(*pid)).collect()
}

fn a_killed_task_is_an_error_and_not_a_hang() {
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
