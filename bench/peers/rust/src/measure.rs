//! CPU, memory and the checksum of what was seen.

use std::time::{Duration, Instant};

use kube::api::ObjectMeta;

/// CPU time of all threads, user and system, and the time of day.
pub struct Reading {
    cpu: Duration,
    wall: Instant,
}

impl Reading {
    pub fn take() -> Self {
        let mut used = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: getrusage fills the struct that it is given, and zeroes are a valid one.
        let used = unsafe {
            libc::getrusage(libc::RUSAGE_SELF, used.as_mut_ptr());
            used.assume_init()
        };
        Reading {
            cpu: duration(used.ru_utime) + duration(used.ru_stime),
            wall: Instant::now(),
        }
    }

    /// CPU and wall seconds from here to `end`.
    pub fn until(&self, end: &Reading) -> (f64, f64) {
        let cpu = end.cpu - self.cpu;
        let wall = end.wall - self.wall;
        (cpu.as_secs_f64(), wall.as_secs_f64())
    }
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
}

/// One field of /proc/self/status, in bytes; -1 where there is none.
pub fn memory(field: &str) -> i64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    text.lines()
        .filter_map(|line| line.strip_prefix(field)?.strip_prefix(':'))
        .filter_map(|rest| rest.split_whitespace().next()?.parse::<i64>().ok())
        .map(|kib| kib * 1024)
        .next()
        .unwrap_or(-1)
}

/// Gives memory that nobody uses back to the system.
pub fn release() {
    // SAFETY: malloc_trim may be called at any time.
    unsafe { libc::malloc_trim(0) };
}

/// What is noted of one object.
pub struct Mark {
    namespace: Option<String>,
    name: Option<String>,
    version: Option<String>,
}

impl Mark {
    /// Takes the strings out of metadata that nobody else needs: no copies.
    pub fn taken(metadata: &mut ObjectMeta) -> Self {
        Mark {
            namespace: metadata.namespace.take(),
            name: metadata.name.take(),
            version: metadata.resource_version.take(),
        }
    }

    pub fn copied(metadata: &ObjectMeta) -> Self {
        Mark {
            namespace: metadata.namespace.clone(),
            name: metadata.name.clone(),
            version: metadata.resource_version.clone(),
        }
    }
}

/// The sum of each mark's CRC-32, modulo 2^64.
pub fn checksum(marks: &[Mark]) -> u64 {
    let mut sum = 0_u64;
    for mark in marks {
        let name = mark.name.as_deref().unwrap_or_default();
        let version = mark.version.as_deref().unwrap_or_default();
        let text = match mark.namespace.as_deref() {
            Some(namespace) if !namespace.is_empty() => format!("{namespace}/{name} {version}"),
            _ => format!("{name} {version}"),
        };
        sum = sum.wrapping_add(crc32fast::hash(text.as_bytes()).into());
    }
    sum
}
