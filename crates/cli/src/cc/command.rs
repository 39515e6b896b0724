//! Reads a compiler's command line: what it compiles, what comes out, and which words decide about the code.

use std::path::{Path, PathBuf};

/// How far the compiler is asked to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// `-c`.
    Objects,
    /// Nothing said: compile and link.
    Program,
    /// `-E`, `-M`, `-S`, `-fsyntax-only` and whatever else leaves no object.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Assembler,
}

/// A source file of the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub path: String,
    pub language: Language,
    /// The language as `-x` gave it; the file's name does not tell it then.
    pub named_language: Option<String>,
}

#[derive(Clone, Debug)]
pub struct CompileCommand {
    pub goal: Goal,
    pub inputs: Vec<Input>,
    pub output: Option<String>,
    /// The words that decide about the code: macros, include folders, dialects, machine and code generation.
    pub kept: Vec<String>,
    pub uses_lto: bool,
    /// Archives by their paths, libraries by their names (`-lx`), and where those are looked for (`-Lx`).
    pub archive_files: Vec<String>,
    pub libraries: Vec<String>,
    pub library_dirs: Vec<String>,
}

/// Options whose value is the next word, and that decide about the code.
const KEPT_PAIRS: &[&str] = &[
    "-I",
    "-D",
    "-U",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "--sysroot",
    "-target",
    "-arch",
    "-Xpreprocessor",
    "--param",
    "-B",
    "-Xclang",
    "-mllvm",
    "-include-pch",
];

/// Options whose value is the next word, and that concern other outputs or the linker.
const DROPPED_PAIRS: &[&str] = &[
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-L",
    "-l",
    "-Xlinker",
    "-Xassembler",
    "-T",
    "-u",
    "-z",
    "-e",
    "-A",
    "-aux-info",
    "-dumpbase",
    "-dumpdir",
    "-framework",
    "--serialize-diagnostics",
    "-dependency-file",
    "-wrapper",
    "-G",
    "-h",
    "-soname",
    "-rpath",
];

/// Single words that make further files, instrument the code or rename its sources.
const DROPPED_PREFIXES: &[&str] = &[
    "-M",
    "-Wp,-M",
    "-Wl,",
    "-Wa,",
    "-l",
    "-L",
    "-flto",
    "-fno-lto",
    "-fprofile",
    "-fcoverage",
    "-ftest-coverage",
    "--coverage",
    "-coverage",
    "-save-temps",
    "--save-temps",
    "-ftime-trace",
    "-ftime-report",
    "-ffile-prefix-map",
    "-fdebug-prefix-map",
    "-fembed-bitcode",
    "-fuse-ld",
    "-fcrash-diagnostics",
    "-fdump-",
    "-frecord-",
    "-fcallgraph-info",
    "-fdiagnostics",
    "-gsplit-dwarf",
    "-specs",
    "--specs",
    "-fplugin",
    "-foffload",
    "-fwhole-program",
    "-ffat-lto",
    "-fuse-linker-plugin",
    "-fmodules",
    "-fstack-usage",
];

const DROPPED_WORDS: &[&str] = &[
    "-c",
    "-shared",
    "-static",
    "-static-pie",
    "-pie",
    "-no-pie",
    "-r",
    "-s",
    "-rdynamic",
    "-nostdlib",
    "-nostartfiles",
    "-nodefaultlibs",
    "-static-libgcc",
    "-shared-libgcc",
    "-v",
    "-pipe",
    "-Werror",
    "-pg",
    "-p",
    "-P",
    "-C",
    "-CC",
];

/// Words after which there is no object.
const OTHER_GOALS: &[&str] = &[
    "-E",
    "-S",
    "-M",
    "-MM",
    "-fsyntax-only",
    "-emit-llvm",
    "-emit-ast",
    "--analyze",
    "-analyze",
    "-###",
    "--version",
    "--help",
    "--precompile",
    "-dumpmachine",
    "-dumpversion",
    "-dumpspecs",
    "--preprocess",
    "--assemble",
];

impl CompileCommand {
    pub fn read(words: &[String]) -> CompileCommand {
        let mut command = CompileCommand {
            goal: Goal::Program,
            inputs: Vec::new(),
            output: None,
            kept: Vec::new(),
            uses_lto: false,
            archive_files: Vec::new(),
            libraries: Vec::new(),
            library_dirs: Vec::new(),
        };
        let mut language: Option<String> = None;
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            match word {
                "-c" | "--compile" if command.goal == Goal::Program => command.goal = Goal::Objects,
                "-o" | "--output" => command.output = words.next().map(str::to_string),
                "-x" | "--language" => language = words.next().map(str::to_string),
                _ if OTHER_GOALS.contains(&word) || word.starts_with("-print-") || word.starts_with("--print-") => {
                    command.goal = Goal::Other;
                }
                "-l" => command.libraries.extend(words.next().map(str::to_string)),
                "-L" => command.library_dirs.extend(words.next().map(str::to_string)),
                _ if KEPT_PAIRS.contains(&word) => {
                    command.kept.push(word.to_string());
                    command.kept.extend(words.next().map(str::to_string));
                }
                _ if DROPPED_PAIRS.contains(&word) => {
                    words.next();
                }
                _ if word.starts_with("-l") => command.libraries.push(word[2..].to_string()),
                _ if word.starts_with("-L") => command.library_dirs.push(word[2..].to_string()),
                _ if word.ends_with(".a") && !word.starts_with('-') => command.archive_files.push(word.to_string()),
                _ if word.starts_with("-o") => command.output = Some(word[2..].to_string()),
                _ if word.starts_with("-x") => language = Some(word[2..].to_string()),
                _ if word.starts_with('-') && word != "-" => {
                    command.uses_lto |= word.starts_with("-flto");
                    if !is_dropped(word) {
                        command.kept.push(word.to_string());
                    }
                }
                _ => command.inputs.extend(input(word, language.as_deref())),
            }
        }
        command
    }

    /// Where `-c` puts the object of an input.
    pub fn object_of(&self, input: &Input) -> PathBuf {
        match &self.output {
            Some(output) => PathBuf::from(output),
            None => {
                let stem = Path::new(&input.path).file_stem().unwrap_or_default();
                PathBuf::from(stem).with_added_extension("o")
            }
        }
    }

    /// The archives a link has to choose from, those of the system left out.
    pub fn archives(&self) -> Vec<PathBuf> {
        let in_dirs = self.libraries.iter().filter_map(|name| {
            let paths = self.library_dirs.iter().map(|dir| Path::new(dir).join(format!("lib{name}.a")));
            paths.into_iter().find(|path| path.is_file())
        });
        let named = self.archive_files.iter().map(PathBuf::from);
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        named
            .chain(in_dirs)
            .map(absolute)
            .filter(|path| !path.starts_with("/usr") && !path.starts_with("/lib"))
            .collect()
    }

    /// The words that compile one input to code.
    pub fn words_for(&self, input: &Input) -> Vec<String> {
        let mut words = self.kept.clone();
        if let Some(language) = &input.named_language {
            words.extend(["-x".to_string(), language.clone()]);
        }
        words
    }
}

fn is_dropped(word: &str) -> bool {
    DROPPED_WORDS.contains(&word) || DROPPED_PREFIXES.iter().any(|prefix| word.starts_with(prefix))
}

fn input(word: &str, named: Option<&str>) -> Option<Input> {
    let language = match named.filter(|language| *language != "none") {
        Some("c" | "cpp-output") => Language::C,
        Some("assembler" | "assembler-with-cpp") => Language::Assembler,
        Some(_) => return None,
        None => match Path::new(word).extension()?.to_str()? {
            "c" | "i" => Language::C,
            "s" | "S" | "sx" => Language::Assembler,
            _ => return None,
        },
    };
    let named_language = named.filter(|language| *language != "none").map(str::to_string);
    // What comes from standard input can be read only once.
    (word != "-").then(|| Input { path: word.to_string(), language, named_language })
}

/// Words with the contents of `@file` in their place; a file that cannot be read stays as it is, as in the compiler.
pub fn expand_response_files(words: Vec<String>) -> Vec<String> {
    let mut expanded = Vec::with_capacity(words.len());
    for word in words {
        let content = word.strip_prefix('@').and_then(|path| std::fs::read_to_string(path).ok());
        match content.map(|text| crate::args::split_words(&text)) {
            Some(Ok(inner)) => expanded.extend(expand_response_files(inner)),
            _ => expanded.push(word),
        }
    }
    expanded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> CompileCommand {
        CompileCommand::read(&text.split_whitespace().map(str::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn an_automake_compile() {
        let command = read(
            "-DHAVE_CONFIG_H -I. -I./lib -g -O2 -Wall -MT src/echo.o -MD -MP -MF src/.deps/echo.Tpo -c -o src/echo.o src/echo.c",
        );
        assert_eq!(command.goal, Goal::Objects);
        assert_eq!(command.inputs.len(), 1);
        assert_eq!(command.object_of(&command.inputs[0]), Path::new("src/echo.o"));
        assert_eq!(command.kept, ["-DHAVE_CONFIG_H", "-I.", "-I./lib", "-g", "-O2", "-Wall"]);
    }

    #[test]
    fn objects_without_a_name_go_to_the_working_folder() {
        let command = read("-c a.c dir/b.x.c");
        let objects: Vec<PathBuf> = command.inputs.iter().map(|input| command.object_of(input)).collect();
        assert_eq!(objects, [Path::new("a.o"), Path::new("b.x.o")]);
    }

    #[test]
    fn values_are_no_inputs() {
        let command = read("-include x.c -MF y.c -Xlinker z.c -o w.c a.o");
        assert_eq!(command.inputs, []);
        assert_eq!(command.output.as_deref(), Some("w.c"));
        assert_eq!(command.goal, Goal::Program);
    }

    #[test]
    fn what_leaves_no_object() {
        for text in ["-E a.c", "-M a.c", "-S a.c", "-fsyntax-only a.c", "--version", "-print-prog-name=ld", "-### a.c"]
        {
            assert_eq!(read(text).goal, Goal::Other, "{text}");
        }
        // Makes dependencies beside the object.
        assert_eq!(read("-MMD -c a.c").goal, Goal::Objects);
    }

    #[test]
    fn languages() {
        let command = read("-x c a.txt -xassembler b -x none c.c d.cpp -");
        let languages: Vec<(&str, Language)> =
            command.inputs.iter().map(|input| (input.path.as_str(), input.language)).collect();
        assert_eq!(languages, [("a.txt", Language::C), ("b", Language::Assembler), ("c.c", Language::C)]);
        assert_eq!(command.words_for(&command.inputs[0]), ["-x", "c"]);
    }
}
