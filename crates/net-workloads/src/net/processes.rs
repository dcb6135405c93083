//! The processes of a run: the near side, a far side of ours where there is one, and with a delay
//! the relay between them.

use super::channel::Channel;
use super::control::{Asked, Received, Sent, Test};
use super::namespace_link::{self, NamespaceLink};
use super::relay::{self, Relayed};
use super::settings::{FarLocation, NetSettings};
use super::thread_result::NearReport;
use super::{counts, far, near};
use contract::{Error, Interrupt, LaunchSpec, Load, Measurement, Result, WordChoice};
use model::{Histogram, HistogramError, RunReport, Sample};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use workload_parts::instant::timespec;
use workload_parts::memfd_message::MemfdMessage;
use workload_parts::nanoseconds::S;
use workload_parts::process::{ChildProcesses, StartBarrier};

/// Port of our far side in its own namespace, where all are free.
const PORT: u16 = 7171;
/// How long our far side waits for our near side.
const COMES_NS: u64 = 30 * S;

/// All of them, each waiting for its start.
pub(super) struct Processes {
    family: ChildProcesses,
    settings: NetSettings,
    /// What the near side and the relay say when they end.
    results: [MemfdMessage; 2],
    barrier: StartBarrier,
    seen: Option<Seen>,
}

/// What must be true of a run, for [`Load::verify`].
struct Seen {
    near_report: NearReport,
    /// The lateness of the delay line.
    lateness: Option<Histogram>,
}

impl Processes {
    pub(super) fn start(mut settings: NetSettings, launch: &LaunchSpec) -> Result<Self> {
        settings.asked.run = draw()?;
        let wire = match settings.place {
            FarLocation::Namespace => Some(NamespaceLink::make(settings.join)?),
            FarLocation::Loopback | FarLocation::Guest | FarLocation::Address(_) => None,
        };
        let barrier = StartBarrier::new()?;
        let results = [MemfdMessage::new()?, MemfdMessage::new()?];
        let is_ready = || barrier.ready();
        let mut family = ChildProcesses::new()?;
        let far = start_far(&mut family, &settings, wire.as_ref(), launch, &is_ready)?;
        if settings.place.served().is_none() {
            barrier.await_one(&mut family)?;
        }
        let delayed = wire.as_ref().and_then(|wire| wire.ends.as_ref());
        let delayed = delayed.zip(settings.join.line_ns());
        // The relay ends when the last process that can write to this ends: the near side.
        let (until, mut holder) = {
            let (until, holder) = pipe()?;
            (until, Some(holder))
        };
        if let Some((ends, delay_ns)) = delayed {
            family.fork("the delay line", launch, || {
                drop(holder.take());
                is_ready()?;
                let relayed = relay::carry(ends, delay_ns, &until)?;
                results[1].write(&relayed)
            })?;
            barrier.await_one(&mut family)?;
        }
        family.fork("the near side", launch, || {
            if let Some(wire) = &wire {
                wire.near.enter()?;
            }
            results[0].write(&near::run(&settings.asked, far, launch, || barrier.wait())?)
        })?;
        drop(holder);
        barrier.await_one(&mut family)?;
        Ok(Self { family, settings, results, barrier, seen: None })
    }

    fn measurement(&self, near_report: &NearReport) -> Result<Measurement> {
        let asked = &self.settings.asked;
        let mut samples = match asked.test {
            Test::Connect => vec![
                times("connect", near_report, asked)?,
                own_rate("connects_per_second", near_report),
                Sample::proportion("connect_retries", near_report.retries, near_report.measured),
            ],
            Test::Request => vec![
                times("round_trip", near_report, asked)?,
                own_rate("requests_per_second", near_report),
                resent("retransmits", &near_report.sent, near_report),
            ],
            Test::Stream => vec![
                rate("throughput", &near_report.report.received, asked)?,
                resent("retransmits", &near_report.sent, near_report),
            ],
            Test::StreamBoth => vec![
                rate("throughput_out", &near_report.report.received, asked)?,
                rate("throughput_in", &near_report.received, asked)?,
                resent("retransmits_out", &near_report.sent, near_report),
                resent("retransmits_in", &near_report.report.sent, near_report),
            ],
            Test::Messages => vec![
                rate("messages_per_second", &near_report.report.received, asked)?,
                resent("retransmits", &near_report.sent, near_report),
            ],
            Test::Datagrams => {
                let received = &near_report.report.received;
                let arrived = sum(received.iter().map(|one| one.total));
                let sent = sum(near_report.sent.iter().map(|one| one.total));
                let reordered = sum(received.iter().map(|one| one.reordered));
                vec![
                    rate("messages_per_second", received, asked)?,
                    // More arrivals than were sent fail the run.
                    Sample::proportion("lost", sent.saturating_sub(arrived), sent),
                    Sample::proportion("reordered", reordered, arrived),
                ]
            }
        };
        if asked.rate > 0 {
            let lateness = near_report.lateness().map_err(|error| unread(&error))?;
            samples.push(Sample::histogram("lateness", lateness));
        }
        let operations = match asked.test {
            Test::Stream | Test::StreamBoth => None,
            _ => Some(near_report.measured),
        };
        Ok(Measurement { samples, operations })
    }
}

impl Load for Processes {
    fn run(&mut self) -> Result<Measurement> {
        self.barrier.release()?;
        self.family.reap()?;
        let near_report: NearReport = self.results[0].read("the near side")?;
        let mut measurement = self.measurement(&near_report)?;
        let mut late = None;
        if self.settings.join.line_ns().is_some() {
            let relayed: Relayed = self.results[1].read("the delay line")?;
            let lateness = relayed.lateness().map_err(|error| unread(&error))?;
            measurement.samples.extend([
                Sample::histogram("line_lateness", lateness.clone()),
                Sample::proportion("line_dropped", relayed.dropped, relayed.packets),
            ]);
            late = Some(lateness);
        }
        self.seen = Some(Seen { near_report, lateness: late });
        Ok(measurement)
    }

    fn verify(&mut self, _: &RunReport) -> Result<(), String> {
        let Seen { near_report, lateness } = self.seen.take().ok_or("it did not run")?;
        let delayed = lateness.as_ref().zip(self.settings.join.line_ns());
        counts::broken(self.settings.asked.test, &near_report)
            .or_else(|| delayed.and_then(|(late, delay_ns)| relay::broken(late, delay_ns)))
            .map_or(Ok(()), Err)
    }
}

/// Starts the far side where it is ours; where it listens.
fn start_far(
    family: &mut ChildProcesses,
    settings: &NetSettings,
    wire: Option<&NamespaceLink>,
    launch: &LaunchSpec,
    is_ready: &impl Fn() -> io::Result<()>,
) -> Result<SocketAddr> {
    let failed = |error| Error::environment("cannot open the far side's port", error);
    if let Some(address) = settings.place.served() {
        return Ok(address);
    }
    if let Some(wire) = wire {
        let address = SocketAddr::from((namespace_link::FAR, PORT));
        family.fork("the far side", launch, || {
            wire.far.enter()?;
            serve(&TcpListener::bind(address)?, is_ready)
        })?;
        return Ok(address);
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    family.fork("the far side", launch, || serve(&listener, is_ready))?;
    Ok(address)
}

/// Our far side: one run of our near side.
fn serve(listener: &TcpListener, is_ready: impl Fn() -> io::Result<()>) -> io::Result<()> {
    is_ready()?;
    let mut files = [PollFd::new(listener, PollFlags::IN)];
    if poll(&mut files, Some(&timespec(COMES_NS)))? == 0 {
        return Err(io::Error::new(io::ErrorKind::TimedOut, "the near side did not come"));
    }
    let mut channel = Channel::new(listener.accept()?.0)?;
    let asked = far::hear_hello(&mut channel, &Interrupt::default())?;
    far::take_part(&mut channel, asked, &Interrupt::default())
}

/// Handshakes or round trips.
fn times(name: &str, near_report: &NearReport, asked: &Asked) -> Result<Sample> {
    let times = near_report.times().map_err(|error| unread(&error))?;
    if near_report.retries > 0 && times.count() == 0 {
        let cause =
            format!("all {} handshakes were sent again or took a second", near_report.retries);
        let remedy = "see what loses the first packets on the way; such a time measures a timer";
        let kind = contract::ErrorKind::Environment;
        return Err(Error::new(kind, "nothing was measured", cause, remedy));
    }
    if times.count() == 0 || near_report.span_ns == 0 {
        return Err(nothing(asked));
    }
    Ok(Sample::histogram(name, times))
}

/// Operations per second as the near side saw them.
fn own_rate(name: &str, near_report: &NearReport) -> Sample {
    Sample::quotient(name, near_report.measured as f64, near_report.span_ns as f64 / 1e9)
}

/// Bytes or messages per second as their receiver counted them.
fn rate(name: &str, received: &[Received], asked: &Asked) -> Result<Sample> {
    let (count, span_s) = counts::rate(received).ok_or_else(|| nothing(asked))?;
    Ok(Sample::quotient(name, count, span_s))
}

/// Retransmits per second of the whole run.
fn resent(name: &str, sent: &[Sent], near_report: &NearReport) -> Sample {
    let count = sum(sent.iter().map(|one| one.retransmits));
    Sample::quotient(name, count as f64, near_report.wall_ns as f64 / 1e9)
}

/// Of counts that another side may have made up.
fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

fn unread(error: &HistogramError) -> Error {
    Error::environment("cannot read what was measured", error)
}

/// What no metric can be made of.
fn nothing(asked: &Asked) -> Error {
    Error::new(
        contract::ErrorKind::Environment,
        "nothing was measured",
        format!("the test {} saw no operation end in its measured time", asked.test.word()),
        "give it a longer duration, or a higher rate",
    )
}

/// The number of a run: what a stranger cannot guess.
fn draw() -> Result<u64> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| Error::environment("cannot draw the number of a run", error))?;
    Ok(u64::from_ne_bytes(bytes))
}

fn pipe() -> Result<(OwnedFd, OwnedFd)> {
    pipe_with(PipeFlags::CLOEXEC).map_err(|error| Error::environment("cannot make a pipe", error))
}
