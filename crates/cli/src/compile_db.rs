//! `compile_commands.json`: how a build compiled its files, as CMake, Meson and Bear write it.

use std::path::{Path, PathBuf};

use replay::BuildUnit;
use serde::Deserialize;

use crate::args::split_words;
use crate::cc::{CompileCommand, Language};

#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default)]
    command: String,
}

/// The C files of the database, each once: a build may compile a file several times, and the first counts.
pub fn read(path: &Path) -> Result<Vec<BuildUnit>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot be read: {error}"))?;
    let entries: Vec<Entry> =
        serde_json::from_str(&text).map_err(|error| format!("not a list of compile commands: {error}"))?;
    let base = std::path::absolute(path.parent().unwrap_or(Path::new("."))).unwrap_or_default();
    let mut units: Vec<BuildUnit> = Vec::new();
    for entry in entries {
        let unit = unit(&entry, &base).map_err(|why| format!("{}: {why}", entry.file.display()))?;
        if let Some(unit) = unit.filter(|unit| units.iter().all(|known| known.path() != unit.path())) {
            units.push(unit);
        }
    }
    Ok(units)
}

fn unit(entry: &Entry, base: &Path) -> Result<Option<BuildUnit>, String> {
    let words = match entry.arguments.is_empty() {
        false => entry.arguments.clone(),
        true => split_words(&entry.command)?,
    };
    // The compiler's own name, in one word or, as in `ccache cc`, in several.
    let first = words.iter().position(|word| word.starts_with('-')).unwrap_or(words.len());
    let command = CompileCommand::read(&words[first..]);
    let dir = base.join(&entry.directory);
    let is_it = |path: &str| dir.join(path) == dir.join(&entry.file);
    let Some(input) = command.inputs.iter().find(|input| is_it(&input.path)).or(command.inputs.first()) else {
        return Ok(None);
    };
    let unit = || BuildUnit { source: entry.file.clone(), args: command.words_for(input), dir: dir.clone() };
    Ok((input.language == Language::C).then(unit))
}
