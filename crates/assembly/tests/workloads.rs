//! Each workload, really run, with parameters of some tens of milliseconds.
//!
//! Workloads fork, and a fork needs a process with one thread, so this test has
//! its own `main`: each case runs in a forked child that must leave no process
//! and no thread behind. Arguments that are no options select cases by name; `--list` and
//! `--exact` are those of other test executables.

#![expect(clippy::print_stdout, reason = "a test harness reports on stdout")]
#![expect(clippy::unwrap_used, reason = "a test ends where something unexpected happens")]

#[path = "workloads/allocations.rs"]
mod allocations;
#[path = "workloads/bench.rs"]
mod bench;
#[path = "workloads/gateway.rs"]
mod gateway;
#[path = "workloads/http.rs"]
mod http;
#[path = "workloads/net.rs"]
mod net;
#[path = "workloads/reference_network.rs"]
mod reference_network;
#[path = "workloads/scheduling.rs"]
mod scheduling;
#[path = "workloads/service.rs"]
mod service;
#[path = "workloads/storage.rs"]
mod storage;

use bench::*;
use contract::{
    Configured, Error, LaunchSpec, Load, Measurement, Parameter, Problem, Workload, WorkloadFacts,
};
use model::{ParameterValue, Parameters, RunReport, SampleData, Usage};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use sys::Machine;

#[path = "workloads/io.rs"]
mod io;

/// A case that takes longer is stuck, also on a machine that is five times as slow as usual.
const LIMIT_S: u32 = 1500;

const CASES: &[(&str, fn())] = &[
    ("cases_share_the_machine", cases_share_the_machine),
    ("every_declaration_is_sound", scheduling::every_declaration_is_sound),
    ("every_workload_runs_briefly", scheduling::every_workload_runs_briefly),
    ("nothing_is_allocated_for_an_operation", allocations::none_for_an_operation),
    (
        "what_is_run_and_how_long_follows_from_the_catalogue",
        allocations::what_is_run_and_how_long_follows_from_the_catalogue,
    ),
    ("messaging_delivers_every_message", scheduling::messaging_delivers_every_message),
    ("pipe_keeps_its_placement", scheduling::pipe_keeps_its_placement),
    ("pipe_refuses_two_cpus_where_it_has_one", scheduling::pipe_refuses_two_cpus_where_it_has_one),
    ("cyclic_counts_every_period", scheduling::cyclic_counts_every_period),
    ("latt_answers_every_burst", scheduling::latt_answers_every_burst),
    ("wakeup_measures_in_a_closed_loop", scheduling::wakeup_measures_in_a_closed_loop),
    (
        "wakeup_sends_at_its_rate_in_an_open_loop",
        scheduling::wakeup_sends_at_its_rate_in_an_open_loop,
    ),
    ("scenarios_run_in_their_regime", scheduling::scenarios_run_in_their_regime),
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
    (
        "command_reports_what_a_program_used_and_said",
        scheduling::command_reports_what_a_program_used_and_said,
    ),
    (
        "command_turns_every_failure_into_an_error",
        scheduling::command_turns_every_failure_into_an_error,
    ),
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
    ("a_load_that_never_ran_leaves_nothing", scheduling::a_load_that_never_ran_leaves_nothing),
    ("tasks_exist_before_the_run", scheduling::tasks_exist_before_the_run),
    (
        "a_killed_task_is_an_error_and_not_a_hang",
        scheduling::a_killed_task_is_an_error_and_not_a_hang,
    ),
];

fn main() {
    let options: Vec<String> = std::env::args().skip(1).collect();
    let is_list = options.iter().any(|option| option == "--list");
    // Runners ask twice: for all, and for those that are only run when asked for. None is.
    if is_list && options.iter().any(|option| option == "--ignored") {
        return;
    }
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
