//! `gateway`, really run.

use super::*;

/// Few enough to take some tens of milliseconds.
const SHORT: [(&str, &str); 2] = [("requests", "2000"), ("warm_up", "100")];

fn with<'a>(settings: &[(&'a str, &'a str)]) -> Parameters {
    parameters("gateway", &[&SHORT[..], settings].concat())
}

/// What nine of ten requests took longer than: others of this machine make single ones longer,
/// never all of them.
fn least(measurement: &Measurement, source: &str) -> f64 {
    let SampleData::Histogram(histogram) = data(measurement, source) else { panic!("{source}") };
    histogram.quantile(0.1).unwrap() as f64
}

pub(crate) fn answers_every_request_by_every_route() {
    for (workers, route, stages) in
        [("1", "local", 4), ("2", "local", 4), ("2", "one_way", 5), ("3", "both_ways", 6)]
    {
        for queue in ["mutex", "spin", "lock_free"] {
            for wake in ["eventfd", "spin_then_block"] {
                for inflight in ["1", "7", "0"] {
                    let parameters = with(&[
                        ("workers", workers),
                        ("route", route),
                        ("queue", queue),
                        ("wake", wake),
                        ("inflight_total", inflight),
                        ("inflight_per_session", "2"),
                    ]);
                    let measurement = TestMachine::new().run("gateway", &parameters);
                    assert_eq!(measurement.operations, Some(2000));
                    assert_eq!(histogram_count(&measurement, "round_trip"), 2000);
                    let seen: Vec<&str> = [
                        "to_gateway",
                        "gateway",
                        "handoff",
                        "exchange",
                        "handoff_back",
                        "to_client",
                    ]
                    .into_iter()
                    .filter(|stage| measurement.samples.iter().any(|one| one.source == *stage))
                    .collect();
                    assert_eq!(seen.len(), stages, "{route}: {seen:?}");
                    for stage in seen {
                        assert_eq!(histogram_count(&measurement, stage), 2000, "{stage}");
                    }
                }
            }
        }
    }
}

/// Every way of waiting, by epoll and by io_uring, with frames of the allocator and of the pool.
pub(crate) fn waits_in_every_way_with_either_memory_and_clock() {
    let mut waits = vec![("epoll", "eventfd"), ("epoll", "spin_then_block")];
    for pair in [("io_uring", "eventfd"), ("io_uring", "futex"), ("io_uring", "spin_then_block")] {
        let asked = with(&[("workers", "2"), ("io", pair.0), ("wake", pair.1)]);
        let needs = facts("gateway", &asked).requirements;
        match needs.iter().find_map(|need| need.met(&TestMachine::new().machine).err()) {
            None => waits.push(pair),
            Some(lack) => {
                testing::unsupported(&format!("{} by {}: {}", pair.1, pair.0, lack.why));
            }
        }
    }
    for (io, wake) in waits {
        for (workers, route) in [("1", "local"), ("2", "one_way"), ("3", "both_ways")] {
            for (allocator, clock, inflight) in
                [("system", "monotonic", "1"), ("pool", "monotonic", "0"), ("pool", "tsc", "5")]
            {
                let parameters = parameters(
                    "gateway",
                    &[
                        // Three that spin on two CPUs beside others take their time.
                        ("requests", "500"),
                        ("warm_up", "50"),
                        ("workers", workers),
                        ("route", route),
                        ("io", io),
                        ("wake", wake),
                        ("allocator", allocator),
                        ("clock", clock),
                        ("inflight_total", inflight),
                        // More than one read holds.
                        ("payload", "9000"),
                    ],
                );
                let measurement = TestMachine::new().run("gateway", &parameters);
                assert_eq!(histogram_count(&measurement, "round_trip"), 500, "{io} {wake}");
            }
        }
    }
    let wrong = with(&[("wake", "futex")]);
    let conflicts = conflicts("gateway", &wrong);
    assert!(conflicts.len() == 1 && conflicts[0].contains("io_uring"), "{conflicts:?}");
}

pub(crate) fn each_runs_under_its_policy() {
    let parameters = with(&[
        ("generator_policy", "batch"),
        ("gateway_policy", "fifo:10"),
        ("exchange_policy", "rr:5"),
        ("workers", "2"),
    ]);
    let needs = facts("gateway", &parameters).requirements;
    assert_eq!(needs.len(), 3);
    if let Some(lack) = needs.iter().find_map(|need| need.met(&TestMachine::new().machine).err()) {
        return testing::skip(&format!("{}: {} ({})", lack.what, lack.why, lack.remedy));
    }
    // Whether they did is part of what a run checks.
    TestMachine::new().run("gateway", &parameters);
    let wrong = with(&[("gateway_policy", "fifo")]);
    let conflicts = conflicts("gateway", &wrong);
    assert!(conflicts[0].contains("gateway_policy"), "{conflicts:?}");
}

/// No process waits for room in a socket's buffer: one that did would read nothing, and so would
/// the one whose replies it does not read.
pub(crate) fn has_more_under_way_than_sockets_hold() {
    for io in ["epoll", "io_uring"] {
        let place = TestMachine::new();
        let parameters = parameters(
            "gateway",
            &[
                ("sessions", "2"),
                ("workers", "2"),
                ("route", "both_ways"),
                ("inflight_per_session", "512"),
                ("inflight_total", "0"),
                ("payload", "64k"),
                ("requests", "1500"),
                ("warm_up", "0"),
                ("io", io),
            ],
        );
        let needs = facts("gateway", &parameters).requirements;
        if let Some(lack) = needs.iter().find_map(|need| need.met(&place.machine).err()) {
            testing::unsupported(&format!("{}: {}", lack.what, lack.why));
            continue;
        }
        assert_eq!(place.run("gateway", &parameters).operations, Some(1500), "{io}");
    }
}

/// What a worker that polls does until the first request comes is no cost of any request.
pub(crate) fn costs_what_requests_cost() {
    let parameters = with(&[("wake", "busy_poll")]);
    let place = TestMachine::new();
    let needs = facts("gateway", &parameters).requirements;
    if let Some(lack) = needs.iter().find_map(|need| need.met(&place.machine).err()) {
        return testing::unsupported(&format!("{}: {}", lack.what, lack.why));
    }
    // One worker uses no more than the time that a run takes.
    let beyond_ns = |pause_ms: u64| {
        let mut load = place.prepare("gateway", &parameters).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(pause_ms));
        let began_ns = sys::monotonic_ns();
        let measurement = load.run().unwrap();
        let wall_ns = (sys::monotonic_ns() - began_ns) as f64;
        let (sum_ns, _) = quotient(&measurement, "gateway_cpu");
        sum_ns - wall_ns
    };
    let least_ns = (0..3).map(|_| beyond_ns(1000)).fold(f64::INFINITY, f64::min);
    assert!(least_ns < 2e8, "of the second before the run {least_ns} ns count");
}

pub(crate) fn one_worker_that_polls_never_sleeps() {
    if sys::affinity(0).unwrap().len() < 2 {
        return testing::unsupported("a worker that polls needs a CPU beside the others'");
    }
    for io in ["epoll", "io_uring"] {
        let place = TestMachine::new();
        let parameters = with(&[("wake", "busy_poll"), ("io", io)]);
        let needs = facts("gateway", &parameters).requirements;
        if let Some(lack) = needs.iter().find_map(|need| need.met(&place.machine).err()) {
            testing::unsupported(&format!("{}: {}", lack.what, lack.why));
            continue;
        }
        let measurement = place.run("gateway", &parameters);
        assert_eq!(measurement.operations, Some(2000), "{io}");
    }
}

pub(crate) fn keeps_its_pins_and_its_concurrency() {
    let cpus: Vec<usize> = sys::affinity(0).unwrap().iter().collect();
    let first = cpus[0].to_string();
    let last = cpus[cpus.len() - 1].to_string();
    let parameters = with(&[
        ("gateway_cpus", &last),
        ("generator_cpus", &first),
        ("exchange_cpus", &first),
        ("workers", "2"),
        ("route", "both_ways"),
        ("payload", "5000"),
    ]);
    TestMachine::new().run("gateway", &parameters);
    let wrong = with(&[("gateway_cpus", "one")]);
    assert_eq!(conflicts("gateway", &wrong).len(), 1);
    let absent = with(&[("gateway_cpus", "4095")]);
    let Err(error) = configured("gateway", &absent)
        .and_then(|one| one.prepare(&TestMachine::new().machine, &TestMachine::new().launch))
    else {
        panic!("a CPU that is not there was there")
    };
    assert!(error.to_string().contains("CPU 4095"), "{error}");
}

/// The stage with the delay is longer by it; the others are not.
pub(crate) fn a_delay_shows_in_its_stage_alone() {
    run_before_neighbours();
    const DELAY_NS: f64 = 2_000_000.0;
    let settings =
        [("workers", "2"), ("route", "both_ways"), ("requests", "60"), ("warm_up", "10")];
    let run = |more: &[(&str, &str)]| {
        let all = [&settings[..], more].concat();
        TestMachine::new().run("gateway", &parameters("gateway", &all))
    };
    let stages = ["to_gateway", "gateway", "handoff", "exchange", "handoff_back", "to_client"];
    for delayed in stages {
        let fits = |stage: &str, length_ns: f64| match stage == delayed {
            true => (DELAY_NS..DELAY_NS * 1.5).contains(&length_ns),
            false => length_ns < DELAY_NS / 4.0,
        };
        let look = || {
            let slow = run(&[("delay_in", delayed), ("delay", "2ms")]);
            stages.map(|stage| (stage, least(&slow, stage)))
        };
        let seen = look_until(look, |seen| seen.iter().all(|(stage, ns)| fits(stage, *ns)));
        for (stage, length_ns) in seen {
            assert!(fits(stage, length_ns), "{stage} in a delay of {delayed}: {length_ns}");
        }
    }
}

pub(crate) fn sends_at_its_rate_in_an_open_loop() {
    run_before_neighbours();
    for arrivals in ["constant", "poisson"] {
        let settings = [("rate", "4000"), ("requests", "400"), ("arrivals", arrivals)];
        let parameters = parameters("gateway", &settings);
        let rate = |measurement: &Measurement| {
            let (requests, seconds) = quotient(measurement, "operations_per_second");
            requests / seconds
        };
        let look = || TestMachine::new().run("gateway", &parameters);
        let measurement = look_until(look, |one| (1000.0..6000.0).contains(&rate(one)));
        assert_eq!(histogram_count(&measurement, "lateness"), 400);
        let rate = rate(&measurement);
        assert!((1000.0..6000.0).contains(&rate), "{arrivals}: {rate}");
        assert!(!facts("gateway", &parameters).is_closed_loop);
    }
}

pub(crate) fn a_port_in_use_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let parameters = with(&[("port", &port)]);
    let place = TestMachine::new();
    let Err(error) = place.prepare("gateway", &parameters) else { panic!("the port was free") };
    assert!(error.to_string().contains("in use"), "{error}");
    assert!(error.remedy.contains("port = 0"), "{error}");
}

/// With several workers the kernel would deal their clients out to all that share the port.
pub(crate) fn a_port_that_somebody_shares_is_in_use() {
    use rustix::net::{AddressFamily, SocketType, bind, listen, socket, sockopt};
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let port = free.port().to_string();
    let taken = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    sockopt::set_socket_reuseport(&taken, true).unwrap();
    bind(&taken, &free).unwrap();
    listen(&taken, 1).unwrap();
    let parameters = with(&[("port", &port), ("workers", "2")]);
    let place = TestMachine::new();
    let Err(error) = place.prepare("gateway", &parameters) else { panic!("the port was free") };
    assert!(error.to_string().contains("in use"), "{error}");
    // A port that served a moment ago is free.
    drop(taken);
    for _ in 0..2 {
        place.run("gateway", &parameters);
    }
}

pub(crate) fn a_stranger_at_its_port_fails_the_run() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let port = free.port().to_string();
    for workers in ["1", "2"] {
        let parameters = with(&[("port", &port), ("workers", workers), ("requests", "200000")]);
        let place = TestMachine::new();
        let mut load = place.prepare("gateway", &parameters).unwrap();
        // The first may end the gateway.
        let _strangers = [(); 3].map(|()| std::net::TcpStream::connect(free));
        let error = load.run().unwrap_err();
        assert!(error.to_string().contains("somebody else has connected"), "{error}");
    }
}

/// Whichever of the three is killed, the run fails with a reason, and nothing is left.
pub(crate) fn a_killed_process_fails_the_run() {
    for victim in 0..3 {
        let parameters = parameters("gateway", &[("requests", "10_000_000")]);
        let place = TestMachine::new();
        let mut load = place.prepare("gateway", &parameters).unwrap();
        let children =
            std::fs::read_to_string(format!("/proc/self/task/{}/children", std::process::id()))
                .unwrap();
        let pids: Vec<i32> = children.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
        assert_eq!(pids.len(), 3);
        // Another process, for this one must stay with one thread.
        // SAFETY: the process has one thread; the child only sleeps, kills and ends.
        let killer = unsafe { libc::fork() };
        if killer == 0 {
            std::thread::sleep(std::time::Duration::from_millis(100));
            // SAFETY: the process is a child of our parent.
            unsafe {
                libc::kill(pids[victim], libc::SIGKILL);
                libc::_exit(0);
            }
        }
        let error = load.run().unwrap_err().to_string();
        let name = ["the exchange", "the gateway", "the generator"][victim];
        assert!(error.contains(&format!("{name} failed")), "{name}: {error}");
        assert!(error.contains("signal 9"), "{name}: {error}");
        drop(load);
        let mut status = 0;
        // SAFETY: `status` is a valid place; the killer is our child, or was reaped by the load.
        unsafe { libc::waitpid(killer, &raw mut status, 0) };
    }
}
