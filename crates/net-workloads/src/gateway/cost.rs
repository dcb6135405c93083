//! What the generator of `gateway` costs beside a plain loop: whether a gateway or its
//! generator is the slower of the two.

use super::connection::listen;
use super::frame::{Frame, LEAST, Stamp};
use super::generator::generate;
use super::settings::{
    GatewaySettings, INFLIGHT_TOTAL, PARAMETERS, RATE as RATE_KEY, REQUESTS as REQUESTS_KEY,
    SESSIONS, WARM_UP,
};
use contract::{Key, Parameter, Problem};
use model::Histogram;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use std::io;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsFd;
use sys::monotonic_ns;
use workload_parts::instant::timespec;
use workload_parts::nanoseconds::S;

const CONNECTIONS: u64 = 16;
const PAYLOAD: usize = 64;
const REQUESTS: u64 = 20_000;
/// Requests per second of the open loop, and their number.
const RATE: u64 = 4_000;
const DUE: u64 = 400;
/// A client that sends nothing for so long never will.
const PATIENCE_NS: u64 = 10 * S;
/// The rates are measured so often, in turns.
const ROUNDS: usize = 5;
/// The lateness is, in turns of a tenth of a second: in one of half a second a busy machine disturbs
/// more than each hundredth request every time.
const LATENESS_ROUNDS: usize = 50;

/// The generator beside what only does the least.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeneratorCost {
    /// Replies per second of the generator on 16 connections, over those of a plain epoll loop
    /// with the same server: the median of several turns.
    pub rate_ratio: f64,
    /// Nanoseconds that 99 of 100 requests of an open loop were sent late, at most, in the turn in
    /// which these were least: whatever else a processor does meanwhile only adds to them, and in
    /// most turns it does something.
    pub lateness_p99_ns: f64,
    /// The same of a loop that only waits for each moment, in as many turns.
    pub bare_lateness_p99_ns: f64,
}

/// Measures it, in about fifteen seconds.
///
/// # Errors
/// What the kernel answers.
pub fn gateway_generator_cost() -> io::Result<GeneratorCost> {
    let closed = settings(&[(&REQUESTS_KEY, REQUESTS)])?;
    let open = settings(&[(&REQUESTS_KEY, DUE), (&RATE_KEY, RATE)])?;
    let (mut ratios, mut late, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let own = with_server(&closed, |port| {
            let measured = generate(&closed, port, || Ok(()))?;
            Ok(REQUESTS as f64 / measured.span.own_ns() as f64)
        })?;
        let plain = with_server(&closed, plain_rate)?;
        ratios.push(own / plain);
    }
    for _ in 0..LATENESS_ROUNDS {
        late.push(with_server(&open, |port| {
            let measured = generate(&open, port, || Ok(()))?;
            let lateness = measured.lateness.as_deref().map(Histogram::decode);
            let lateness = lateness.transpose().map_err(io::Error::other)?;
            p99(&lateness.unwrap_or_default())
        })?);
        bare.push(p99(&bare_lateness())?);
    }
    Ok(GeneratorCost {
        rate_ratio: median(&mut ratios),
        lateness_p99_ns: least(&late),
        bare_lateness_p99_ns: least(&bare),
    })
}

/// The workload's defaults but for these.
fn settings(changed: &[(&Key<u64>, u64)]) -> io::Result<GatewaySettings> {
    let fixed = [(&SESSIONS, CONNECTIONS), (&INFLIGHT_TOTAL, 0), (&WARM_UP, 0)];
    let all = fixed.iter().chain(changed).map(|(key, value)| (key.name(), value.to_string()));
    let all: Vec<(&str, String)> = all.collect();
    let given: Vec<(&str, &str)> = all.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let settings = Parameter::values(PARAMETERS, &given).and_then(|all| GatewaySettings::of(&all));
    let settings = settings.map_err(|problems| io::Error::other(Problem::joined(&problems)))?;
    Ok(GatewaySettings { seed: 1, ..settings })
}

/// Runs a client beside a server that stamps and answers at once.
fn with_server<T>(
    settings: &GatewaySettings,
    client: impl FnOnce(u16) -> io::Result<T>,
) -> io::Result<T> {
    let listener = listen(0, false)?;
    let port = listener.local_addr()?.port();
    std::thread::scope(|scope| {
        let server = scope.spawn(|| serve(settings, &listener));
        let measured = client(port);
        let served = server.join().unwrap_or_else(|_| Err(io::Error::other("the server ended")));
        // A client that failed closed its connections, and so did the server end.
        measured.and_then(|measured| served.map(|()| measured))
    })
}

/// Answers until every client has closed its connection; as little as makes a reply, so that it
/// is the client whose cost shows. One frame is under way on each connection and comes whole.
fn serve(settings: &GatewaySettings, listener: &TcpListener) -> io::Result<()> {
    const LISTENER: u64 = u64::MAX;
    let poller = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&poller, listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
    let mut streams: Vec<TcpStream> = Vec::new();
    let mut bytes = vec![0_u8; LEAST + settings.payload];
    let mut closed = 0;
    while closed < CONNECTIONS {
        let mut room = [const { MaybeUninit::<Event>::uninit() }; 64];
        let (events, _) = epoll::wait(&poller, &mut room, Some(&timespec(PATIENCE_NS)))?;
        if events.is_empty() {
            return Err(io::Error::other("no client sends anything"));
        }
        for event in events {
            if event.data.u64() == LISTENER {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                let number = EventData::new_u64(streams.len() as u64);
                epoll::add(&poller, &stream, number, EventFlags::IN)?;
                streams.push(stream);
                continue;
            }
            let stream = &streams[usize::try_from(event.data.u64()).unwrap_or_default()];
            let flags = rustix::net::RecvFlags::empty();
            let (length, _) = rustix::net::recv(stream, &mut bytes[..], flags)?;
            if length == 0 {
                epoll::delete(&poller, stream)?;
                closed += 1;
                continue;
            }
            if length != bytes.len() {
                return Err(io::Error::other("a request came in parts"));
            }
            let mut frame = Frame::from_bytes(bytes);
            let now_ns = monotonic_ns();
            for stamp in
                [Stamp::Found, Stamp::Begun, Stamp::Forwarded, Stamp::Answered, Stamp::Replied]
            {
                frame.stamp(stamp, now_ns);
            }
            frame.answer().map_err(io::Error::other)?;
            send(stream, &frame)?;
            bytes = frame.into_bytes();
        }
    }
    Ok(())
}

/// Replies per nanosecond of a loop that sends the same bytes and counts what comes back.
fn plain_rate(port: u16) -> io::Result<f64> {
    let poller = epoll::create(CreateFlags::CLOEXEC)?;
    let mut streams = Vec::new();
    for number in 0..CONNECTIONS {
        let stream = TcpStream::connect(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        epoll::add(&poller, &stream, EventData::new_u64(number), EventFlags::IN)?;
        let frame = Frame::request(u32::try_from(number).unwrap_or_default(), 0, PAYLOAD);
        streams.push((stream, frame, 0));
    }
    let began_ns = monotonic_ns();
    for (stream, frame, _) in &streams {
        send(stream, frame)?;
    }
    let (mut sent, mut received) = (CONNECTIONS, 0);
    let mut bytes = vec![0_u8; 64 << 10];
    while received < REQUESTS {
        let mut room = [const { MaybeUninit::<Event>::uninit() }; 64];
        let (events, _) = epoll::wait(&poller, &mut room, None)?;
        for event in events {
            let place = usize::try_from(event.data.u64()).unwrap_or_default();
            let (stream, frame, partly) = &mut streams[place];
            let (length, _) =
                rustix::net::recv(&*stream, &mut bytes[..], rustix::net::RecvFlags::empty())?;
            if length == 0 {
                return Err(io::Error::other("the server closed a connection"));
            }
            *partly += length;
            if *partly < LEAST + PAYLOAD {
                continue;
            }
            *partly = 0;
            received += 1;
            if sent < REQUESTS {
                send(&*stream, frame)?;
                sent += 1;
            }
        }
    }
    Ok(REQUESTS as f64 / (monotonic_ns() - began_ns) as f64)
}

/// Writes a frame. One is under way on each connection, so there is room for it.
fn send(to: impl AsFd, frame: &Frame) -> io::Result<()> {
    let bytes = frame.bytes();
    let length = rustix::net::send(to, bytes, rustix::net::SendFlags::NOSIGNAL)?;
    match length == bytes.len() {
        true => Ok(()),
        false => Err(io::Error::other("a connection had no room for one frame")),
    }
}

/// How late a loop that does nothing else finds each moment come.
fn bare_lateness() -> Histogram {
    let mut lateness = Histogram::new();
    let step_ns = 1_000_000_000 / RATE;
    let mut due_ns = monotonic_ns();
    for _ in 0..DUE {
        let mut now_ns = monotonic_ns();
        while now_ns < due_ns {
            std::hint::spin_loop();
            now_ns = monotonic_ns();
        }
        lateness.record(now_ns - due_ns);
        due_ns += step_ns;
    }
    lateness
}

fn p99(lateness: &Histogram) -> io::Result<f64> {
    let p99 = lateness.quantile(0.99).ok_or_else(|| io::Error::other("nothing was due"))?;
    Ok(p99 as f64)
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_generator_has_a_rate_and_a_lateness_beside_plain_loops() {
        let cost = super::gateway_generator_cost().unwrap();
        assert!(cost.rate_ratio > 0.0 && cost.rate_ratio.is_finite(), "{cost:?}");
        assert!(cost.lateness_p99_ns > 0.0 && cost.bare_lateness_p99_ns > 0.0, "{cost:?}");
    }
}
