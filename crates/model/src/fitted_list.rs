//! Lists that stay, without room in which nothing stands.

/// Lists of more elements are cut off where they are.
const MOST_MOVED: usize = 64;

/// Takes the room from a list in which nothing stands. A short one moves: what is cut off in place
/// is too small for what the next record needs while it is read, and would stay unused.
pub(crate) fn fit<T>(list: &mut Vec<T>) {
    if list.len() > MOST_MOVED {
        list.shrink_to_fit();
    } else if list.len() < list.capacity() {
        let mut moved = Vec::with_capacity(list.len());
        moved.append(list);
        *list = moved;
    }
}
