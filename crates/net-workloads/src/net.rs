//! A network between two sides: handshakes, requests, streams and small messages, on this
//! machine's loopback, between two namespaces, over a delay line, or to a far side of the user's.

mod channel;
mod connect;
mod connection;
mod control;
mod counts;
mod datagrams;
mod far;
mod frame;
mod messages;
mod namespace;
mod namespace_link;
mod near;
mod pace;
mod processes;
mod relay;
mod request;
mod run_state;
mod sequence;
mod server;
mod settings;
mod stream;
mod thread_result;
mod tunnel;

use contract::{
    Configured, Description, LaunchSpec, Load, Parameter, Problem, Requirement, Result,
    SUBJECTS_LINK, Workload, WorkloadFacts,
};
use control::{Asked, FarAnswer, Sent, Test};
use model::{Direction, Metric, Parameters, Reduction, Unit};
use namespace_link::NamespaceLink;
use processes::Processes;
use settings::{DURATION, FarLocation, NetSettings, PARAMETERS, WARM_UP};
use sys::Machine;
use thread_result::{NearReport, ThreadResult};
use workload_parts::nanoseconds::MS;

pub use server::NetServer;

/// What a far side makes of the first message on a control connection: the connections, the size
/// of a message, the rate and the nanoseconds of the run that it would take part in.
///
/// # Errors
/// Why it would refuse, as it tells the other side.
pub fn network_run_asked_for(message: &[u8]) -> Result<[u64; 4], String> {
    let asked = control::read_hello(message)?;
    Ok([asked.connections, asked.size, asked.rate, asked.whole_ns()])
}

/// What a near side that has sent a mebibyte over one connection in a second makes of the far side's
/// answer: bytes that were received, and in how many seconds.
///
/// # Errors
/// Why that is no measurement.
pub fn network_stream_as_answered(message: &[u8]) -> Result<(f64, f64), String> {
    let report = match channel::decode(message).map_err(|error| error.to_string())? {
        FarAnswer::Report(report) => report,
        other => return Err(near::unexpected(&other).to_string()),
    };
    let (total, second_ns) = (1 << 20, 1_000_000_000);
    let sent = Sent { total, measured: total, ended_ns: second_ns, ..Sent::default() };
    let part = ThreadResult { sent: Some(sent), ..ThreadResult::none() };
    let told = NearReport::of(&[part], second_ns, report);
    match counts::broken(Test::Stream, &told) {
        Some(why) => Err(why),
        None => {
            counts::rate(&told.report.received).ok_or_else(|| "nothing was received".to_owned())
        }
    }
}

static DESCRIPTION: Description = Description {
    id: "net",
    summary: "A network between two sides: handshakes, requests, streams, messages, datagrams",
    doc: "\
**What it is.** A near side that measures and a far side that answers and counts. `test` says
what: `connect`, handshakes one after another, each on a connection of its own; `request`, a
message there and the same back; `stream` and `stream_both`, bytes as fast as the receiver takes
them; `messages`, small ones over TCP that do not wait for more (TCP_NODELAY); `datagrams`, small
ones over UDP. Each of `connections` is a thread on either side. The far side is a process of ours
on this machine's `loopback`, or in a network `namespace` of its own, joined to the near side's by
a pair of virtual links (veth); both are gone with their processes. In the venue `vm` it can be a
second `guest`, which boots what the reference boots, has nothing else of any subject, and is
joined to the subject's guest by a virtual network (virtio) on which nobody else is. Or it is
`schedlab net serve`, which somebody has started at `address`. Nobody else is
contacted, and no name is looked up; a run has ten minutes at most, and datagrams to an address
need a `rate`.

With a `delay` each packet is held for so long one way: by a process of ours that carries packets
between two tunnels (tun), or by the kernel (`delay_by = \"netem\"`) where it can. `load = \"cpu:2\"`
puts CPU load beside any test.

**What it means.** `connect` is the time of connect(2). A handshake whose SYN was sent again, as
TCP_INFO tells, or that took a second or more, counts as `connect_retries` and not as latency: it
has measured a timer. `throughput` is counted by the receiver between its first read after the
warm-up and its last, by its own clock; so are `messages_per_second`. `retransmits` are those of
the sender, per second of the whole run. Of datagrams, `lost` ones never came, and `reordered`
ones came after a later one (RFC 4737). TCP messages must all come, once and in order, and what
both sides counted must agree, or the run fails.

**What moves it.** On one machine, the scheduler: which side runs, and where the other one wakes.
On loopback the whole handshake happens inside connect(2) and hardly sees it; requests need two
wake-ups each. A stream keeps two CPUs busy, so that CPU load beside it halves it. A sender of
datagrams without a `rate` outruns its receiver, whose buffer loses the rest.

**When it lies.** The delay line is a process and waits for a CPU like others: a round trip is two
delays, and what comes on top may be the line's. `line_lateness` says how late it passed packets
on; where its 99th percentile is over a tenth of the delay the run fails. It does not see how late
packets were taken. `line_dropped` found no room. A stream over the line, and messages without a
`rate`, keep three processes busy: with fewer CPUs the line is late and the run fails. The kernel's
delay has none of that; its timers are what they are. With `rate = 0` tests wait for each answer
(closed loop): their tails are conditional on their own pauses. With a `rate` operations are due
whether or not the far side keeps up, `round_trip` counts from then, and `lateness` says how late
the near side began. Over loopback and veth there is no wire: segments of 64 kB, no loss.

**Reference.** The network tests of the EEVDF benchmark project. iperf3 3.12 writes 128 KiB at a
time, as streams do here, and is the measure for them. connect(2) over a line of 5 ms has a median
of 10.2 ms.",
};

/// One directory for each link.
const NETWORK_DEVICES: &str = "/sys/class/net";

/// For processes, connections and namespaces, and the 300 ms for which a test of datagrams that
/// has lost some waits for the last ones.
const AROUND_NS: u64 = 400 * MS;

/// The workload.
pub(crate) struct Entry;

impl Workload for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn brief(&self) -> &'static [(&'static str, &'static str)] {
        const { &[(DURATION.name(), "100ms"), (WARM_UP.name(), "10ms")] }
    }

    fn configure(&self, parameters: &Parameters) -> Result<Box<dyn Configured>, Vec<Problem>> {
        Ok(Box::new(NetSettings::of(parameters)?))
    }
}

impl Configured for NetSettings {
    fn metrics(&self) -> Vec<Metric> {
        let mut metrics = of_test(self.asked.test);
        if self.asked.rate > 0 {
            let summary = "How much later than due an operation began";
            metrics.extend(Metric::latency_quantiles("lateness", summary));
        }
        if self.join.line_ns().is_some() {
            let summary = "How much later than due the delay line passed a packet on";
            metrics.extend(Metric::latency_quantiles("line_lateness", summary));
            metrics.push(fraction("line_dropped", "Packets for which the delay line had no room"));
        }
        metrics
    }

    fn facts(&self) -> WorkloadFacts {
        let Asked { test, rate, warm_up_ns, duration_ns, .. } = self.asked;
        let waits = matches!(test, Test::Connect | Test::Request);
        let requirement = match self.place {
            FarLocation::Namespace => Some(NamespaceLink::requirement(self.join)),
            FarLocation::Guest => Some(second_guest()),
            FarLocation::Loopback | FarLocation::Address(_) => None,
        };
        let delays_ns = 10 * self.join.delay_ns();
        WorkloadFacts {
            is_closed_loop: waits && rate == 0,
            requirements: requirement.into_iter().collect(),
            needs_peer: self.place == FarLocation::Guest,
            ..WorkloadFacts::open_loop(warm_up_ns + duration_ns + delays_ns + AROUND_NS)
        }
    }

    fn prepare(&self, _: &Machine, launch: &LaunchSpec) -> Result<Box<dyn Load>> {
        Ok(Box::new(Processes::start(self.clone(), launch)?))
    }
}

/// The link to a second guest.
fn second_guest() -> Requirement {
    Requirement::check("a second guest", |machine| {
        let devices = machine.list(NETWORK_DEVICES).unwrap_or_default();
        let has_link = devices.iter().any(|name| {
            let address = machine.read(&format!("{NETWORK_DEVICES}/{name}/address"));
            address.is_ok_and(|text| text.trim() == SUBJECTS_LINK.hardware_address)
        });
        has_link.then_some(()).ok_or_else(|| {
            let why = "no link of this machine leads to one".to_owned();
            let remedy = "write venue = \"vm\", or far = \"namespace\"".to_owned();
            (why, remedy)
        })
    })
}

/// The metrics of a test, its own first.
fn of_test(test: Test) -> Vec<Metric> {
    let per_second = |id: &str, summary: &str| {
        Metric::new(id, Unit::PerSecond, Direction::Higher, Reduction::Quotient, summary)
    };
    let bytes = |id: &str, summary: &str| {
        Metric::new(id, Unit::BytesPerSecond, Direction::Higher, Reduction::Quotient, summary)
    };
    let resent = |id: &str, summary: &str| {
        Metric::new(id, Unit::PerSecond, Direction::Lower, Reduction::Quotient, summary)
    };
    let retransmits = || resent("retransmits", "Segments that TCP sent again, per second");
    let received = || per_second("messages_per_second", "Messages received per second");
    match test {
        Test::Connect => {
            let summary = "Time of a handshake that needed no retry";
            let mut metrics = Metric::latency_quantiles("connect", summary);
            metrics.push(per_second("connects_per_second", "Connections per second"));
            metrics.push(fraction(
                "connect_retries",
                "Handshakes whose first packet was sent again, which are no latency",
            ));
            metrics
        }
        Test::Request => {
            let summary = "Time from a request to its reply";
            let mut metrics = Metric::latency_quantiles("round_trip", summary);
            metrics.push(per_second("requests_per_second", "Replies per second"));
            metrics.push(retransmits());
            metrics
        }
        Test::Stream => {
            vec![bytes("throughput", "Bytes received per second"), retransmits()]
        }
        Test::StreamBoth => vec![
            bytes("throughput_out", "Bytes that the far side received per second"),
            bytes("throughput_in", "Bytes that the near side received per second"),
            resent("retransmits_out", "Segments that the near side sent again, per second"),
            resent("retransmits_in", "Segments that the far side sent again, per second"),
        ],
        Test::Messages => vec![received(), retransmits()],
        Test::Datagrams => vec![
            received(),
            fraction("lost", "Datagrams that never came"),
            fraction("reordered", "Datagrams that came after a later one"),
        ],
    }
}

fn fraction(id: &str, summary: &str) -> Metric {
    Metric::new(id, Unit::Fraction, Direction::Lower, Reduction::Proportion, summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(settings: &[(&str, &str)]) -> Result<NetSettings, Vec<Problem>> {
        NetSettings::of(&Parameter::values(PARAMETERS, settings)?)
    }

    fn needs(settings: &[(&str, &str)]) -> Vec<Requirement> {
        with(settings).unwrap().facts().requirements
    }

    #[test]
    fn what_cannot_be_meant_is_refused_before_anything_runs() {
        let cases: &[(&[(&str, &str)], &str)] = &[
            (&[("address", "localhost:7171")], "not looked up"),
            (&[("address", "192.0.2.7:7171"), ("far", "namespace")], "no far side of ours"),
            (&[("address", "192.0.2.7:7171"), ("far", "guest")], "no far side of ours"),
            (&[("delay", "5ms")], "far = \"namespace\""),
            (&[("delay_by", "netem")], "needs a delay"),
            (&[("far", "namespace"), ("delay", "500ms")], "counted as a retry"),
            (&[("test", "stream"), ("rate", "5")], "no rate"),
            (&[("test", "datagrams"), ("address", "127.0.0.1:7171")], "need a rate"),
            (&[("test", "request"), ("size", "20")], "24 bytes"),
            (&[("test", "datagrams"), ("size", "65508")], "65507"),
        ];
        for (settings, word) in cases {
            let problems = with(settings).unwrap_err();
            let has_word = |problem: &Problem| problem.to_string().contains(word);
            assert!(problems.len() == 1 && has_word(&problems[0]), "{problems:?}");
        }
        assert!(with(&[]).is_ok());
        let several = with(&[("test", "stream"), ("rate", "5"), ("delay", "5ms")]);
        assert_eq!(several.unwrap_err().len(), 2);
    }

    #[test]
    fn only_namespaces_need_something_of_the_machine() {
        assert!(needs(&[]).is_empty());
        assert!(needs(&[("address", "192.0.2.7:7171")]).is_empty());
        let lines = needs(&[("far", "namespace"), ("delay", "5ms")]);
        assert!(lines.len() == 1 && lines[0].what().contains("tun"), "{lines:?}");
        let by_kernel = [("far", "namespace"), ("delay", "5ms"), ("delay_by", "netem")];
        let kernels = needs(&by_kernel);
        assert!(kernels.len() == 1 && kernels[0].what().contains("netem"), "{kernels:?}");
        let metrics = with(&by_kernel).unwrap().metrics();
        assert!(metrics.iter().all(|metric| !metric.id.starts_with("line")), "no line of ours");
    }

    #[test]
    fn a_second_guest_is_there_where_a_link_of_ours_is() {
        let facts = |settings: &[(&str, &str)]| with(settings).unwrap().facts();
        let far = facts(&[("far", "guest")]);
        assert!(far.needs_peer && !facts(&[]).needs_peer);
        let needs = far.requirements;
        let [need] = &needs[..] else { panic!("{needs:?}") };
        let root = tempfile::tempdir().unwrap();
        let device = root.path().join("sys/class/net/eth0");
        std::fs::create_dir_all(&device).unwrap();
        let machine = Machine::fake(root.path(), root.path().join("run")).unwrap();
        std::fs::write(device.join("address"), "52:54:00:12:34:56\n").unwrap();
        let missing = need.met(&machine).unwrap_err();
        assert!(missing.remedy.contains("venue = \"vm\""), "{missing:?}");
        let ours = format!("{}\n", SUBJECTS_LINK.hardware_address);
        std::fs::write(device.join("address"), ours).unwrap();
        need.met(&machine).unwrap();
    }
}
