//! What techniques bring out beside figures: certificates of their findings, files, text.

use std::fs;
use std::path::Path;

use explore::{Outcome, Report};
use report::Summary;

use crate::out_dir::write_file;
use crate::outcome::Failure;

const CERTIFICATES: &str = "certificates";

/// Writes the certificate of every finding that has one, under the first number that is free, and names it in the summary.
pub fn certify(dir: &Path, outcome: &Outcome, summary: &mut Summary) -> Result<(), Failure> {
    let mut number = 1;
    for finding in &outcome.findings {
        let Some(certificate) = &finding.certificate else { continue };
        let name = |number: u64| format!("{CERTIFICATES}/{number}.{}", certificate.suffix);
        while dir.join(name(number)).exists() {
            number += 1;
        }
        let is_same = |known: &&mut report::FindingSummary| known.test == finding.test;
        if let Some(known) = summary.findings.iter_mut().find(is_same) {
            write(dir, &name(number), &certificate.text)?;
            known.certificate = name(number);
        }
    }
    Ok(())
}

/// Writes the files of the techniques.
pub fn write_all(dir: &Path, outcome: &Outcome) -> Result<(), Failure> {
    let files = outcome.techniques.iter().flat_map(|(_, report)| &report.files);
    files.into_iter().try_for_each(|file| write(dir, &file.name, &file.text))
}

/// Their text for people.
pub fn text(outcome: &Outcome) -> String {
    outcome.techniques.iter().map(|(_, Report { text, .. })| text.as_str()).collect()
}

fn write(dir: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let (folder, file) =
        name.rsplit_once('/').map_or((dir.to_path_buf(), name), |(folder, file)| (dir.join(folder), file));
    fs::create_dir_all(&folder)
        .map_err(|error| Failure::fault(format!("cannot make {}: {error}", folder.display())))?;
    write_file(&folder, file, text.as_bytes())
}
