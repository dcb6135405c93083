//! Jobs on all processors.

use crate::problems::Problems;
use std::sync::{Mutex, PoisonError};

/// Does these jobs, as many at a time as there are processors, and begins them in their order. What
/// they found is in the same order, whichever ended first.
pub fn all<T: Send>(jobs: Vec<impl FnOnce() -> T + Send>) -> Result<Vec<T>, Problems> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let count = processors.min(jobs.len());
    let waiting = Mutex::new(jobs.into_iter().enumerate());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        let mut done = Vec::new();
        while let Some((number, job)) = next() {
            done.push((number, job()));
        }
        done
    };
    let ended: Result<Vec<Vec<(usize, T)>>, Problems> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        let panicked = |_| Problems::one("a job panicked");
        workers.into_iter().map(|one| one.join().map_err(panicked)).collect()
    });
    let mut done: Vec<(usize, T)> = ended?.into_iter().flatten().collect();
    done.sort_by_key(|(number, _)| *number);
    Ok(done.into_iter().map(|(_, found)| found).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_jobs_find_is_in_their_order() {
        let jobs: Vec<_> = (0..100_u32).map(|number| move || number * 2).collect();
        let expected: Vec<u32> = (0..100).map(|number| number * 2).collect();
        assert_eq!(all(jobs).unwrap(), expected);
        assert_eq!(all(Vec::<fn() -> u32>::new()).unwrap(), Vec::<u32>::new());
    }

    #[test]
    fn a_job_that_panics_is_a_problem() {
        fn ends() -> u32 {
            1
        }
        fn panics() -> u32 {
            panic!("as asked")
        }
        let jobs: Vec<fn() -> u32> = vec![ends, panics];
        assert!(all(jobs).unwrap_err().to_string().contains("panicked"));
    }
}
