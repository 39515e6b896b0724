//! What to build natively and under which limits tests run.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Everything that decides what the native program is. Serialisable, so that an output folder can keep it for later
/// replays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildPlan {
    /// `.c`, `.bc` or `.ll`, spelled as the user spelled them.
    pub sources: Vec<PathBuf>,
    /// Files of somebody's build, compiled as there.
    #[serde(default)]
    pub units: Vec<BuildUnit>,
    /// Shared libraries that such a build is linked with.
    #[serde(default)]
    pub libraries: Vec<PathBuf>,
    pub cflags: Vec<String>,
    /// The folder that relative paths, in the flags too, are meant from; empty for the current one.
    #[serde(default)]
    pub base_dir: PathBuf,
    pub entry: Entry,
    #[serde(default)]
    pub checks: Checks,
    #[serde(default)]
    pub limits: Limits,
    /// Where the compiled runtime is kept for the next build; this machine's, so not part of what is saved.
    #[serde(skip)]
    pub cache: Option<PathBuf>,
}

/// A source, the folder it is compiled in, and its own flags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildUnit {
    pub dir: PathBuf,
    pub source: PathBuf,
    pub args: Vec<String>,
}

impl BuildUnit {
    pub fn path(&self) -> PathBuf {
        self.dir.join(&self.source)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    Main,
    /// A function called with inputs for its parameters; `file` is the source that defines it.
    Function {
        name: String,
        params: Vec<Param>,
        file: PathBuf,
    },
    /// A `main` that was generated and takes the place of `file`, which it includes; the other files are compiled with `defines`.
    Harness {
        text: String,
        file: PathBuf,
        defines: Vec<String>,
    },
    /// `LLVMFuzzerTestOneInput`.
    LibFuzzer,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Param {
    pub name: String,
    /// C spelling of the parameter's type.
    pub ty: String,
    pub kind: ParamKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParamKind {
    /// The input named like the parameter is its value: numbers, and structs passed by value.
    Value,
    /// The input named `*parameter` is what it points to.
    Pointer,
}

/// The checks that are off unless asked for. The native build looks for the same faults as the engine, so that neither
/// stops where the other goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Checks {
    pub overflow: bool,
    pub shift: bool,
    pub uninit: bool,
    /// Memory nobody wrote is zero.
    pub uninit_zero: bool,
    pub leak: bool,
    /// What is reachable at the end is leaked, too.
    pub leak_all: bool,
    /// An abort is an end like others, at which memory may have leaked.
    pub abort_is_end: bool,
    /// Further checks of UBSan, by clang's names.
    pub sanitizers: Vec<String>,
}

/// What one test may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Wall-clock time after which a test counts as hanging.
    pub timeout_ms: u32,
    /// Memory on top of what the sanitizer itself maps.
    pub memory_mb: u32,
    /// Size of any one file the program writes.
    pub file_mb: u32,
    pub max_processes: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { timeout_ms: 10_000, memory_mb: 2048, file_mb: 16, max_processes: 64 }
    }
}
