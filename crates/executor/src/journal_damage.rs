//! What is damaged of a journal, in few lines whatever its size: a file of 4 MB may have two million
//! lines that are not as they were written.

/// More places than this are told by their number.
const MOST_TOLD: usize = 20;

/// The damage found so far.
#[derive(Default)]
pub(crate) struct JournalDamage {
    told: Vec<DamagedPlace>,
    /// Places that are only counted.
    others: u64,
}

struct DamagedPlace {
    /// The first and the last line in a row that are damaged alike; none of lines that are not
    /// there.
    lines: Option<(usize, usize)>,
    why: String,
}

impl JournalDamage {
    /// A line, from 1, and what is wrong with it.
    pub(crate) fn add_line(&mut self, line: usize, why: String) {
        if let Some(DamagedPlace { lines: Some((_, last)), why: known }) = self.told.last_mut()
            && *last + 1 == line
            && *known == why
        {
            *last = line;
            return;
        }
        self.add_place(DamagedPlace { lines: Some((line, line)), why });
    }

    /// Something that is wrong with no line.
    pub(crate) fn add(&mut self, why: String) {
        self.add_place(DamagedPlace { lines: None, why });
    }

    fn add_place(&mut self, place: DamagedPlace) {
        if self.told.len() < MOST_TOLD {
            self.told.push(place);
        } else {
            self.others += 1;
        }
    }

    /// All of it, in the order in which it was found.
    pub(crate) fn into_told(self) -> Vec<String> {
        let told = self.told.into_iter().map(|DamagedPlace { lines, why }| match lines {
            None => why,
            Some((first, last)) if first == last => format!("line {first}: {why}"),
            Some((first, last)) => format!("each of lines {first} to {last}: {why}"),
        });
        let others = (self.others > 0)
            .then(|| format!("{} more places are damaged or not there", self.others));
        told.chain(others).collect()
    }
}
