//! What is appended is read alone, and gives the same run.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::eventlog::read;

/// The lines of a log of a cluster, whose tasks fill more than one stage.
fn log() -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/eventlogs/skewed-groupby.zstd");
    zstd::decode_all(fs::File::open(path).unwrap()).unwrap()
}

fn shown(run: &Run) -> String {
    format!("{run:#?}")
}

fn following(follower: &mut Follower, path: &Path) -> String {
    let run = follower.read(path, &mut |_| true).unwrap();
    assert_eq!(shown(&run), shown(&read(path, &mut |_| true).unwrap()));
    shown(&run)
}

#[test]
fn a_log_that_grows_is_the_log_that_it_becomes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app-1.inprogress");
    let log = log();
    let mut follower = Follower::default();
    // Cut within lines mostly, once in a place where a line ends.
    let line_end = log.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let steps = (1..12).map(|step| log.len() * step / 12).chain([line_end, log.len() - 1, log.len()]);
    let mut steps: Vec<usize> = steps.collect();
    steps.sort_unstable();
    for end in steps {
        fs::write(&path, &log[..end]).unwrap();
        following(&mut follower, &path);
    }
    assert!(follower.kept.is_none(), "an application that has ended writes no more");
}

#[test]
fn what_was_read_is_not_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app-1.inprogress");
    let mut log = log();
    let half = log.len() / 2;
    let mut follower = Follower::default();
    fs::write(&path, &log[..half]).unwrap();
    follower.read(&path, &mut |_| true).unwrap();
    let kept = follower.kept.as_ref().unwrap();
    let (offset, tail) = (kept.stop.offset as usize, kept.tail.len());
    assert!(offset <= half && tail == TAIL as usize);
    fs::write(&path, &log).unwrap();
    let whole = shown(&read(&path, &mut |_| true).unwrap());
    // The events that were read are gone from the file; they are known.
    log[1..offset - tail].fill(b'\n');
    fs::write(&path, &log).unwrap();
    assert_eq!(shown(&follower.read(&path, &mut |_| true).unwrap()), whole);
}

#[test]
fn the_name_that_an_ended_application_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let (open, ended) = (folder.path().join("app-1.inprogress"), folder.path().join("app-1"));
    let log = log();
    let mut follower = Follower::default();
    fs::write(&open, &log[..log.len() / 2]).unwrap();
    following(&mut follower, &open);
    assert!(follower.kept.is_some());
    fs::remove_file(&open).unwrap();
    fs::write(&ended, &log).unwrap();
    following(&mut follower, &open);
}

#[test]
fn another_log_of_the_same_name_is_read_from_its_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app-1");
    let log = log();
    let mut follower = Follower::default();
    fs::write(&path, &log[..log.len() / 2]).unwrap();
    following(&mut follower, &path);
    // Shorter, other at the place where reading stopped, and packed.
    fs::write(&path, &log[..log.len() / 3]).unwrap();
    following(&mut follower, &path);
    let mut other = log.clone();
    let stop = follower.kept.as_ref().unwrap().stop.offset as usize;
    other[stop - 2] = b' ';
    fs::write(&path, &other).unwrap();
    following(&mut follower, &path);
    fs::write(&path, zstd::encode_all(&log[..log.len() / 2], 1).unwrap()).unwrap();
    following(&mut follower, &path);
    assert!(follower.kept.is_none());
}

#[test]
fn a_rolled_log_grows_in_its_last_file_and_by_files() {
    let folder = tempfile::tempdir().unwrap();
    let log = log();
    let ends: Vec<usize> = log.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
    let (first, second) = (ends[ends.len() / 3], ends[2 * ends.len() / 3]);
    let rolled = folder.path().join("eventlog_v2_app-1");
    fs::create_dir(&rolled).unwrap();
    fs::write(rolled.join("appstatus_app-1.inprogress"), "").unwrap();
    let mut follower = Follower::default();
    let mut grown = |name: &str, bytes: &[u8]| {
        fs::write(rolled.join(name), bytes).unwrap();
        following(&mut follower, &rolled)
    };
    grown("events_1_app-1", &log[..first / 2]);
    grown("events_1_app-1", &log[..first]);
    grown("events_2_app-1", &log[first..first + 100]);
    grown("events_2_app-1", &log[first..second]);
    grown("events_3_app-1", &log[second..]);
    // A file that was read grew after all, and one is missing.
    grown("events_1_app-1", &log[..first - 1]);
    fs::remove_file(rolled.join("events_2_app-1")).unwrap();
    grown("events_4_app-1", b"");
}
