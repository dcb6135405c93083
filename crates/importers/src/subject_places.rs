//! Where subjects stand in the blocks of an import. There are hundreds of thousands of blocks, so
//! that all of these places are one list.

use model::SharedName;
use std::collections::BTreeMap;

/// The numbers of a block and a subject, and the place of the subject in the block, from 0.
pub(crate) type SubjectPlace = ([u32; 2], u32);

/// The place of each subject in its block by its first row there, sorted by block and subject. Rows
/// are told by these, in their order.
pub(crate) fn first_places(rows: impl Iterator<Item = [u32; 2]>) -> Vec<SubjectPlace> {
    // The first row of a subject stands where its place will.
    let mut places: Vec<SubjectPlace> = rows.zip(0..).collect();
    places.sort_unstable();
    places.dedup_by_key(|(of, _)| *of);
    places.shrink_to_fit();
    for of_block in places.chunk_by_mut(|(one, _), (other, _)| one[0] == other[0]) {
        of_block.sort_unstable_by_key(|(_, row)| *row);
        for (place, (_, own)) in (0..).zip(of_block.iter_mut()) {
            *own = place;
        }
        of_block.sort_unstable();
    }
    places
}

/// The same by the mean place of its rows there, of blocks in which the rows of subjects lie among
/// each other. Subjects whose means are equal, as those of a, b, b, a, have the same place.
pub(crate) fn mean_places(rows: impl Iterator<Item = [u32; 2]>) -> Vec<SubjectPlace> {
    let mut lengths: BTreeMap<u32, u128> = BTreeMap::new();
    let mut sums: BTreeMap<[u32; 2], [u128; 2]> = BTreeMap::new();
    for [block, subject] in rows {
        let length = lengths.entry(block).or_default();
        let [sum, count] = sums.entry([block, subject]).or_default();
        *sum += *length;
        *count += 1;
        *length += 1;
    }
    let means: Vec<([u32; 2], [u128; 2])> = sums.into_iter().collect();
    let mut places = Vec::with_capacity(means.len());
    for of_block in means.chunk_by(|(one, _), (other, _)| one[0] == other[0]) {
        let compared = |[sum, count]: [u128; 2], [other, others]: [u128; 2]| {
            (sum * others).cmp(&(other * count))
        };
        let mut of_block: Vec<&([u32; 2], [u128; 2])> = of_block.iter().collect();
        of_block.sort_by(|(_, one), (_, other)| compared(*one, *other));
        let mut place = 0;
        for (at, (of, mean)) in (0..).zip(&of_block) {
            let is_tied = at > 0 && compared(of_block[at - 1].1, *mean).is_eq();
            place = if is_tied { place } else { at };
            places.push((*of, place as u32));
        }
    }
    places.sort_unstable();
    places
}

/// The place of a subject in a block, among such places.
pub(crate) fn place_of(places: &[SubjectPlace], of: [u32; 2]) -> u32 {
    places.binary_search_by_key(&of, |(of, _)| *of).map_or(0, |at| places[at].1)
}

/// The subjects of each block in the order of their places, by their names.
pub(crate) fn subject_orders(
    places: &[SubjectPlace],
    names: &[SharedName],
) -> Vec<Vec<SharedName>> {
    let order = |of_block: &[SubjectPlace]| {
        let mut of_block: Vec<&SubjectPlace> = of_block.iter().collect();
        of_block.sort_unstable_by_key(|(_, place)| *place);
        let subjects = of_block.iter().map(|([_, subject], _)| *subject as usize);
        subjects.map(|subject| names[subject].clone()).collect()
    };
    places.chunk_by(|(one, _), (other, _)| one[0] == other[0]).map(order).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_have_places_by_their_first_rows_in_whatever_order_blocks_and_rows_come() {
        let rows = [[0, 1], [1, 0], [0, 1], [0, 0], [1, 0], [1, 2], [0, 2], [1, 1]];
        let places = first_places(rows.into_iter());
        let expected =
            [([0, 0], 1), ([0, 1], 0), ([0, 2], 2), ([1, 0], 0), ([1, 1], 2), ([1, 2], 1)];
        assert_eq!(places, expected);
        assert_eq!(place_of(&places, [1, 1]), 2);
        let names = ["a", "b", "c"].map(SharedName::from);
        assert_eq!(subject_orders(&places, &names), [["b", "a", "c"], ["a", "c", "b"]]);
        assert!(first_places(std::iter::empty()).is_empty());
    }

    #[test]
    fn subjects_have_places_by_the_means_of_their_rows() {
        let of = |rows: &str| {
            let rows = rows.bytes().map(|letter| [0, u32::from(letter - b'a')]);
            mean_places(rows).into_iter().map(|(_, place)| place).collect::<Vec<u32>>()
        };
        assert_eq!(of("abba"), [0, 0]);
        assert_eq!(of("abab"), [0, 1]);
        assert_eq!(of("bbaab"), [1, 0]);
        assert_eq!(of("acbbca"), [0, 0, 0]);
    }
}
