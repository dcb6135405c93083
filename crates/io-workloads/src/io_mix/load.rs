//! The prepared mixture: victims and streams, a window, and what they came to.

use super::phase::{MEASURING, STOPPING, Shared};
use super::reader::Reader;
use super::settings::{IoMixSettings, Victim};
use super::stream::Stream;
use contract::{Error, ErrorKind, LaunchSpec, Load, Measurement, Result};
use model::{Caveat, Histogram, RunReport, Sample};
use std::sync::Arc;
use sys::Machine;
use workload_parts::crew::{Crew, Member};
use workload_parts::instant::sleep_until;
use workload_parts::nanoseconds::S;
use workload_parts::storage::caches;
use workload_parts::storage::data_location::{self, DataLocation};
use workload_parts::storage::fairness::jain;
use workload_parts::storage::transfer::{lay_out, unwritable};

/// Longest time after the end until every thread has noticed: a flush of all that is dirty.
const STOP_LIMIT_NS: u64 = 600 * S;

enum Task {
    Reader(Reader),
    Stream(Stream),
}

impl Member for Task {
    fn prepare(&mut self) -> Result<(), String> {
        match self {
            Task::Reader(reader) => reader.prepare(),
            Task::Stream(stream) => stream.prepare(),
        }
    }

    fn run(&mut self) -> Result<(), String> {
        match self {
            Task::Reader(reader) => reader.run(),
            Task::Stream(stream) => stream.run(),
        }
    }
}

pub(super) struct Mix {
    crew: Crew<Task>,
    shared: Arc<Shared>,
    settings: Arc<IoMixSettings>,
    host_cache: Option<Caveat>,
    /// Pages that were in memory after the caches had been dropped.
    resident: u64,
    readers: Vec<Reader>,
    streams: Vec<Stream>,
}

/// Makes and fills the files, drops the caches, starts the threads.
pub(super) fn prepare(
    machine: &Machine,
    settings: IoMixSettings,
    launch: &LaunchSpec,
) -> Result<Mix> {
    let settings = Arc::new(settings);
    let shared = Arc::new(Shared::new());
    let count = settings.readers + settings.streams;
    let place = DataLocation::open(launch, u64::from(count), settings.size)?;
    let mut tasks = Vec::new();
    for index in 0..count {
        let is_reader = index < settings.readers;
        let (record, is_direct) = if is_reader {
            (settings.record, settings.is_direct)
        } else {
            (settings.stream_record, settings.is_stream_direct)
        };
        let region = place.region(u64::from(index), settings.size, record, is_direct)?;
        let pattern = if is_reader {
            let reader = Reader::new(index, &settings, &shared, region.clone(), launch.seed);
            let pattern = reader.pattern();
            tasks.push(Task::Reader(reader));
            pattern
        } else {
            let cursor = Arc::default();
            let stream = |_| {
                let numbers = [index, index - settings.readers];
                let region = region.clone();
                Stream::new(numbers, &cursor, &settings, &shared, region, launch.seed)
            };
            let threads: Vec<Stream> = (0..settings.stream_depth).map(stream).collect();
            let pattern = threads[0].pattern();
            tasks.extend(threads.into_iter().map(Task::Stream));
            pattern
        };
        lay_out(&region, pattern, record, settings.size)
            .map_err(|failed| unwritable(u64::from(count) * settings.size, &failed))?;
    }
    let mut resident = 0;
    if settings.drops {
        caches::drop_all(machine)?;
        for task in &tasks {
            let (Task::Reader(Reader { region, .. }) | Task::Stream(Stream { region, .. })) = task;
            resident += caches::evict(&region.file, region.start, settings.size)
                .map_err(|error| Error::environment("cannot drop the cached pages", error))?;
        }
    }
    let host_cache = data_location::host_cache(launch);
    let crew = Crew::assemble(launch, tasks)?;
    let (readers, streams) = (Vec::new(), Vec::new());
    Ok(Mix { crew, shared, settings, host_cache, resident, readers, streams })
}

impl Mix {
    fn measurement(&mut self, window_ns: u64) -> Result<Measurement> {
        let mut latency = Histogram::new();
        self.readers.iter().for_each(|reader| latency.merge(&reader.latency));
        let operations = latency.count();
        let rounds: Vec<f64> =
            self.readers.iter().flat_map(|reader| reader.rounds_ns.iter().copied()).collect();
        let whole = match self.settings.victim {
            Victim::RandomReader => None,
            Victim::AppStart => Some("start_time"),
            Victim::WorkingSet => Some("working_set_time"),
        };
        if operations == 0 || (whole.is_some() && rounds.is_empty()) {
            return Err(Error::new(
                ErrorKind::Environment,
                "nothing was measured",
                format!(
                    "no victim finished within {}",
                    model::format_duration(self.settings.duration_ns)
                ),
                "lengthen duration, or use fewer streams",
            ));
        }
        let mut samples = vec![Sample::histogram("victim_latency", latency)];
        samples.extend(whole.map(|source| Sample::values(source, rounds)));
        let seconds = window_ns as f64 / 1e9;
        let read: Vec<u64> = self.readers.iter().map(|reader| reader.bytes).collect();
        let mut streamed = vec![0; self.settings.streams as usize];
        for stream in &self.streams {
            streamed[stream.number as usize] += stream.bytes;
        }
        let (read_sum, streamed_sum) =
            (read.iter().sum::<u64>() as f64, streamed.iter().sum::<u64>() as f64);
        let mut rate = |source, bytes| samples.push(Sample::quotient(source, bytes, seconds));
        rate("victim_throughput", read_sum);
        if !streamed.is_empty() {
            rate("stream_throughput", streamed_sum);
            rate("aggregate_throughput", read_sum + streamed_sum);
        }
        let equals = if streamed.len() > 1 { &streamed } else { &read };
        if equals.len() > 1 {
            let got: Vec<f64> = equals.iter().map(|bytes| *bytes as f64).collect();
            let index = jain(&got).into_iter();
            samples.extend(index.map(|index| Sample::values("fairness", vec![index])));
        }
        Ok(Measurement { samples, operations: Some(operations) })
    }
}

impl Load for Mix {
    fn run(&mut self) -> Result<Measurement> {
        self.crew.open();
        sleep_until(sys::monotonic_ns() + self.settings.warmup_ns);
        let start_ns = sys::monotonic_ns();
        self.shared.enter(MEASURING);
        sleep_until(start_ns + self.settings.duration_ns);
        self.shared.enter(STOPPING);
        let window_ns = sys::monotonic_ns() - start_ns;
        for task in self.crew.collect(STOP_LIMIT_NS)? {
            match task {
                Task::Reader(reader) => self.readers.push(reader),
                Task::Stream(stream) => self.streams.push(stream),
            }
        }
        self.measurement(window_ns)
    }

    fn verify(&mut self, _: &RunReport) -> Result<(), String> {
        for (index, reader) in self.readers.iter().enumerate() {
            if let Some(fault) = &reader.first_fault {
                return Err(format!(
                    "{} reads of victim {index} were wrong; {fault}",
                    reader.faults
                ));
            }
            if reader.warm_pages > 0 {
                return Err(format!(
                    "victim {index} found {} pages in memory that had been dropped",
                    reader.warm_pages
                ));
            }
        }
        if let Some(stream) = self.streams.iter().find(|stream| stream.faults > 0) {
            return Err(format!("{} reads of stream {} were wrong", stream.faults, stream.number));
        }
        if self.resident > 0 {
            return Err(format!(
                "{} pages of the data were still in memory after the caches had been dropped",
                self.resident
            ));
        }
        let readers = self.readers.iter().map(|reader| (&reader.region, self.settings.is_direct));
        let streams =
            self.streams.iter().map(|stream| (&stream.region, self.settings.is_stream_direct));
        for (region, wanted) in readers.chain(streams) {
            let actual =
                data_location::is_direct(&region.file).map_err(|error| error.to_string())?;
            if actual != wanted {
                return Err(format!("O_DIRECT was asked to be {wanted} and was {actual}"));
            }
        }
        Ok(())
    }

    fn caveats(&self) -> Vec<Caveat> {
        self.host_cache.iter().cloned().collect()
    }
}

/// Tells the threads to stop before the crew waits for them.
impl Drop for Mix {
    fn drop(&mut self) {
        self.shared.enter(STOPPING);
    }
}
