//! What venues cannot give, in the words that several of them say it in.

use contract::{Factor, Neighbour, Refusal};

/// A factor of the simulator, anywhere else.
pub(crate) fn simulated(factor: &dyn Factor) -> Refusal {
    let id = factor.describe().id;
    Refusal::new(
        format!("the factor `{id}` exists in the simulator only"),
        "write venue = \"sim\", or choose another factor",
    )
}

/// What needs a guest, where there are none. Load from the host of a guest comes from the same
/// machine there.
pub(crate) fn without_guests(neighbour: Neighbour) -> Option<Refusal> {
    match neighbour {
        Neighbour::SecondGuest => Some(Refusal::new(
            "its far side is a second guest, which only the venue `vm` has",
            "write venue = \"vm\" and a kernel",
        )),
        Neighbour::HostLoad => None,
    }
}
