//! A far side that a user starts: serves the runs of others until it is told to end.

use super::channel::Channel;
use super::control::FarAnswer;
use super::far::{hear_hello, take_part};
use contract::{Error, ErrorKind, Interrupt, Result, WordChoice};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Control connections at a time, those included that have not said anything yet.
const MOST: usize = 8;
/// Of those, the ones of one address: silent ones of a client leave room for others.
const MOST_OF_ONE: usize = 4;
/// Between looks for a signal.
const GLANCE: Duration = Duration::from_millis(200);

/// A listener for runs of the workload `net`.
#[derive(Debug)]
pub struct NetServer {
    listener: TcpListener,
    address: SocketAddr,
}

impl NetServer {
    /// Listens on this address.
    ///
    /// # Errors
    /// When it cannot: another program may listen there.
    pub fn bind(address: SocketAddr) -> Result<Self> {
        let failed = |error: io::Error| {
            let remedy = match error.kind() {
                io::ErrorKind::AddrInUse => {
                    "another program listens there: end it, or choose another port \
                     (--listen ADDR:PORT; port 0 is one that is free)"
                }
                io::ErrorKind::AddrNotAvailable => "choose an address of this machine (ip address)",
                io::ErrorKind::PermissionDenied => "choose a port above 1023",
                _ => "",
            };
            let attempted = format!("cannot listen on {address}");
            Error::new(ErrorKind::Environment, attempted, error, remedy)
        };
        let listener = TcpListener::bind(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the interrupt, one run at a time of each client, and tells of each in a
    /// sentence.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn serve(&self, interrupt: &Interrupt, tell: impl Fn(&str) + Sync) -> Result<()> {
        use rustix::net::sockopt::{Timeout, set_socket_timeout};
        let failed = |error: io::Error| Error::environment("cannot take connections", error);
        set_socket_timeout(&self.listener, Timeout::Recv, Some(GLANCE))
            .map_err(|error| failed(error.into()))?;
        let busy = Busy::default();
        std::thread::scope(|scope| {
            while interrupt.signal().is_none() {
                let (stream, from) = match self.listener.accept() {
                    Ok(accepted) => accepted,
                    Err(error) if is_passing(&error) => continue,
                    Err(error) if is_exhausted(&error) => {
                        std::thread::sleep(GLANCE);
                        continue;
                    }
                    Err(error) => {
                        // Runs that go on would keep us from saying why.
                        interrupt.request(libc::SIGTERM);
                        return Err(failed(error));
                    }
                };
                let Some(place) = busy.enter(from.ip()) else { continue };
                let (busy, tell) = (&busy, &tell);
                let life = move || {
                    let _place = place;
                    match one(stream, from.ip(), busy, interrupt) {
                        Ok(what) => tell(&format!("{}: {what}: done", from.ip())),
                        Err(error) => tell(&format!("{}: {error}", from.ip())),
                    }
                };
                let thread = std::thread::Builder::new().name("run".to_owned());
                // Without a thread the connection is closed, which says enough.
                if let Err(error) = thread.spawn_scoped(scope, life) {
                    tell(&format!("{}: cannot start a thread: {error}", from.ip()));
                }
            }
            Ok(())
        })
    }
}

/// One control connection; what was run.
fn one(
    stream: TcpStream,
    client: IpAddr,
    busy: &Busy,
    interrupt: &Interrupt,
) -> io::Result<String> {
    stream.set_read_timeout(None)?;
    let mut channel = Channel::new(stream)?;
    let asked = hear_hello(&mut channel, interrupt)?;
    let what = format!("{}, {}", asked.test.word(), model::format_duration(asked.whole_ns()));
    let Some(_turn) = busy.take_turn(client) else {
        // One that does not listen misses nothing.
        let _ = channel.send(&FarAnswer::Busy);
        return Err(io::Error::other("a second run at a time was put off"));
    };
    take_part(&mut channel, asked, interrupt)?;
    Ok(what)
}

/// Whether accepting may go on after it.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
    )
}

/// Whether descriptors are used up, which come back when runs end.
fn is_exhausted(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// The clients that are being served.
#[derive(Debug, Default)]
struct Busy {
    places: Mutex<BTreeMap<IpAddr, usize>>,
    clients: Mutex<BTreeSet<IpAddr>>,
}

/// A control connection's place; it is free again when this is dropped.
struct ClientSlot<'b>(&'b Busy, IpAddr);

/// A client's turn; the next one may have it when this is dropped.
struct Turn<'b>(&'b Busy, IpAddr);

impl Busy {
    fn enter(&self, client: IpAddr) -> Option<ClientSlot<'_>> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = places.values().sum::<usize>() >= MOST;
        let own = places.entry(client).or_default();
        if is_full || *own >= MOST_OF_ONE {
            places.retain(|_, count| *count > 0);
            return None;
        }
        *own += 1;
        Some(ClientSlot(self, client))
    }

    fn take_turn(&self, client: IpAddr) -> Option<Turn<'_>> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        // Made only where it is given: one that is dropped frees the client.
        clients.insert(client).then(|| Turn(self, client))
    }
}

impl Drop for ClientSlot<'_> {
    fn drop(&mut self) {
        let mut places = self.0.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = places.get_mut(&self.1) {
            *own -= 1;
        }
        places.retain(|_, count| *count > 0);
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.clients.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_one_turn_at_a_time_and_all_have_so_many_places() {
        let busy = Busy::default();
        let (first, second) = ([127, 0, 0, 1].into(), [127, 0, 0, 2].into());
        let turn = busy.take_turn(first).unwrap();
        assert!(busy.take_turn(first).is_none());
        // A client that was refused has not freed the turn of the other.
        assert!(busy.take_turn(first).is_none());
        assert!(busy.take_turn(second).is_some());
        drop(turn);
        assert!(busy.take_turn(first).is_some());
        let take =
            |client| -> Vec<_> { (0..MOST_OF_ONE).map_while(|_| busy.enter(client)).collect() };
        let (mut of_first, of_second) = (take(first), take(second));
        assert_eq!((of_first.len(), of_second.len()), (MOST_OF_ONE, MOST - MOST_OF_ONE));
        assert!(busy.enter(first).is_none(), "one of many");
        let third = [127, 0, 0, 3].into();
        assert!(busy.enter(third).is_none(), "all places are taken");
        of_first.pop();
        assert!(busy.enter(second).is_none(), "still one of many");
        assert!(busy.enter(third).is_some());
        drop((of_first, of_second));
        assert!(busy.places.lock().unwrap().is_empty(), "addresses are forgotten");
    }
}
