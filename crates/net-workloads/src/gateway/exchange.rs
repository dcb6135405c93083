//! The mock exchange: answers each request on the connection it came by.

use super::connection::{Buffer, Connection, Outbox, ROOM_PAUSE, Read};
use super::frame::LEAST;
use super::poller::{Poller, Waiting};
use super::pool::Pool;
use super::settings::{GatewaySettings, Stage};
use super::usage::Usage;
use std::collections::BTreeMap;
use std::io;
use std::net::TcpListener;

const LISTENER: u64 = u64::MAX;

/// Serves until every worker of the gateway has closed its connection.
///
/// # Errors
/// What the kernel answers, or a request that is not one.
pub(super) fn serve(
    settings: &GatewaySettings,
    listener: &TcpListener,
    is_ready: impl FnOnce() -> io::Result<()>,
) -> io::Result<Usage> {
    settings.exchange.enter(0)?;
    let mut poller = Poller::new(Waiting::Sleep)?;
    poller.add(listener, LISTENER)?;
    let mut connections: BTreeMap<u64, (Connection, Outbox)> = BTreeMap::new();
    // One frame at a time, and none of them is allocated.
    let (mut buffer, pool) = (Buffer::new(), Pool::new(1, LEAST + settings.payload));
    let (mut accepted, mut closed) = (0, 0);
    let mut usage = Usage::default();
    is_ready()?;
    while closed < settings.workers as u64 {
        let mut is_stuck = false;
        for (connection, outbox) in connections.values_mut() {
            is_stuck |= !outbox.flush(&*connection)?;
        }
        if is_stuck {
            poller.look(Some(ROOM_PAUSE.as_nanos() as u64))?;
        } else {
            poller.wait(|| false, || true)?;
        }
        for number in (0..).map_while(|index| poller.ready(index)) {
            if number == LISTENER {
                let (stream, _) = listener.accept()?;
                let connection = Connection::new(stream, settings.payload)?;
                poller.add(&connection, accepted)?;
                connections.insert(accepted, (connection, Outbox::default()));
                accepted += 1;
                continue;
            }
            let Some((connection, outbox)) = connections.get_mut(&number) else { continue };
            match connection.read(&mut buffer)? {
                Read::Nothing => continue,
                Read::Some => {}
                Read::Closed => {
                    poller.remove(&*connection)?;
                    connections.remove(&number);
                    closed += 1;
                    continue;
                }
            }
            while let Some(mut frame) = connection.frame(&pool)? {
                frame.answer().map_err(io::Error::other)?;
                settings.delay_in(Stage::Exchange);
                outbox.send(&*connection, &frame)?;
                usage.count();
                pool.give(frame);
            }
        }
    }
    usage.end()?;
    Ok(usage)
}
