//! Campaigns of before there was a database: a `journal` and a file for each test. They are read into memory as if they had one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use database::{Checkpoint, Database, Imported};
use report::{CoverageView, Summary, TestId};
use serde_json::Value;
use witness::InputValue;

use crate::journal::{Journal, Phase};
use crate::outcome::Failure;

const JOURNAL: &str = "journal";
/// The form of the journal that is read; earlier ones were never released.
const VERSION: u64 = 2;

/// Whether a folder is such a campaign.
pub fn is_old(dir: &Path) -> bool {
    dir.join(JOURNAL).is_file() && !dir.join(database::NAME).exists()
}

pub fn read(dir: &Path) -> Result<Database, Failure> {
    let database = Database::in_memory(&dir.join(database::NAME))?;
    let damaged =
        |path: &Path, why: &dyn std::fmt::Display| Failure::usage(format!("{} is damaged: {why}", path.display()));
    let path = dir.join(JOURNAL);
    let value = json(&path)?;
    if value["version"].as_u64() != Some(VERSION) {
        return Err(Failure::usage(format!(
            "{} was written by another version of Colt (form {}); run the campaign again",
            path.display(),
            value["version"]
        )));
    }
    let journal: Journal = serde_json::from_value(value.clone()).map_err(|error| damaged(&path, &error))?;
    journal.write(&database)?;
    if value["phase"] == "ended" {
        Phase::Ended.write(&database)?;
    }
    for (test, path) in test_files(dir)? {
        let value = json(&path)?;
        let inputs = inputs(&value).ok_or_else(|| damaged(&path, &"its inputs are not readable"))?;
        database.import(&Imported {
            test,
            inputs: &inputs,
            ending: value["ending"].as_str().unwrap_or_default(),
            members: &ending(&value),
            path: &decisions(&value),
        })?;
    }
    if let Ok(text) = fs::read_to_string(dir.join("summary.json")) {
        let summary = Summary::from_json(&text).map_err(|error| damaged(&dir.join("summary.json"), &error))?;
        database.save_findings(&summary.findings)?;
        database.save(&Checkpoint { summary, ..Checkpoint::default() })?;
    }
    if let Ok(value) = json(&dir.join("coverage.json")) {
        let coverage: CoverageView = serde_json::from_value(value).unwrap_or_default();
        database.save_coverage(&coverage)?;
    }
    Ok(database)
}

fn json(path: &Path) -> Result<Value, Failure> {
    let bytes = fs::read(path).map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
    serde_json::from_slice(&bytes).map_err(|error| Failure::usage(format!("{} is damaged: {error}", path.display())))
}

fn test_files(dir: &Path) -> Result<Vec<(TestId, PathBuf)>, Failure> {
    let tests = dir.join("tests");
    let entries =
        fs::read_dir(&tests).map_err(|error| Failure::usage(format!("cannot read {}: {error}", tests.display())))?;
    let numbered = |path: PathBuf| {
        let number = path.file_name()?.to_str()?.strip_suffix(".json")?.parse().ok()?;
        Some((TestId(number), path))
    };
    let mut files: Vec<(TestId, PathBuf)> = entries.filter_map(|entry| numbered(entry.ok()?.path())).collect();
    files.sort();
    Ok(files)
}

fn inputs(test: &Value) -> Option<Vec<InputValue>> {
    let text = |input: &Value, key: &str| input[key].as_str().map(Arc::from);
    let bytes = |hex: &str| -> Option<Vec<u8>> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok()).collect()
    };
    let input = |input: &Value| {
        Some(InputValue {
            name: text(input, "name")?,
            ty: text(input, "type")?,
            bytes: bytes(input["bytes"].as_str()?)?,
            layout: None,
        })
    };
    test["inputs"].as_array()?.iter().map(input).collect()
}

fn decisions(test: &Value) -> Vec<u64> {
    test["path"].as_array().map_or(&[][..], Vec::as_slice).iter().filter_map(Value::as_u64).collect()
}

/// What is neither input nor path: the members that say how it ended.
fn ending(test: &Value) -> String {
    let mut members = test.as_object().cloned().unwrap_or_default();
    members.remove("inputs");
    members.remove("path");
    let object = Value::Object(members).to_string();
    object[1..object.len() - 1].to_string()
}
