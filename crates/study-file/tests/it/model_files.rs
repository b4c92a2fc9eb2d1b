//! Disk models of the user's own: files that a study names, and those of the user's catalogue.

use std::fs;
use study::plan::Plan;
use study::stack::OwnModel;
use study_file::{Diagnostics, Known, KnownModel, KnownProcessor, MediaKind, UnusableModel, read};
use tempfile::TempDir;

/// `NAME SECTORS`.
fn read_model(file: &str, text: &str) -> Result<KnownModel, String> {
    let (name, sectors) = text.split_once(' ').ok_or(format!("{file}:1:1: no sectors"))?;
    let sectors: u64 = sectors.trim().parse().map_err(|_| format!("{file}:1:7: no number"))?;
    Ok(KnownModel {
        name: name.to_owned(),
        capacity_bytes: sectors * 512,
        media: MediaKind::Platters,
        own: Some(OwnModel::new(name, text)),
    })
}

/// A folder with a study's files.
struct Folder(TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
        Self(folder)
    }

    fn read(&self, disks: &str) -> Result<Plan, Diagnostics> {
        let built_in = KnownModel {
            name: "built-in".to_owned(),
            capacity_bytes: 500 << 30,
            media: MediaKind::Platters,
            own: None,
        };
        let known = Known {
            models: vec![built_in, read_model("", "mine 4000000").expect("sound")],
            unusable_models: vec![UnusableModel {
                name: "torn".to_owned(),
                why: "torn.toml:3:1: unknown field".to_owned(),
            }],
            unusable_processors: vec![UnusableModel {
                name: "torn".to_owned(),
                why: "cpus/torn.toml:3:1: unknown field".to_owned(),
            }],
            read_model: Some(read_model),
            folder: Some(self.0.path().to_owned()),
            ..Known::default()
        };
        let source = format!("{disks}\n[[workload]]\nname = \"w\"\nio = {{}}\n");
        read(&source, "studies/own.toml", &known)
    }

    fn plan(&self, disks: &str) -> Plan {
        self.read(disks).unwrap_or_else(|errors| panic!("{errors}"))
    }

    /// Line, column, message and suggestion of the only error.
    fn error(&self, disks: &str) -> (usize, usize, String, String) {
        let errors = self.read(disks).expect_err("a study with an error");
        assert_eq!(errors.len(), 1, "{errors}");
        let error = errors.iter().next().expect("one");
        let help = error.help.clone().unwrap_or_default();
        (error.line, error.column, error.message.clone(), help)
    }
}

#[test]
fn a_file_is_named_by_its_path_and_known_by_its_name() {
    let folder = Folder::with(&[("raptor.toml", "raptor 300000000"), ("old/disk", "old 2000000000")]);
    let plan = folder.plan("[disks]\nmodel = [\"./raptor.toml\", \"built-in\", \"old/disk\"]");
    let labels: Vec<&str> = plan.stack_labels();
    assert_eq!(labels, ["raptor ext4", "built-in ext4", "old ext4"]);
    let models: Vec<&str> = plan.models.iter().map(|model| model.text.as_str()).collect();
    assert_eq!(models, ["raptor 300000000", "old 2000000000"]);
    let hashes: Vec<Option<&str>> = plan
        .cells
        .iter()
        .map(|cell| cell.machine.disks[0].model_sha256.as_deref())
        .collect();
    let hash = |at: usize| Some(plan.models[at].sha256.as_str());
    assert_eq!(hashes, [hash(0), None, hash(1)]);
    let end = "\n# disk model raptor:\n# raptor 300000000\n\n# disk model old:\n# old 2000000000\n";
    assert!(plan.source.ends_with(end), "{}", plan.source);
    let shown = format!("{plan:?}");
    let folder = folder.0.path().display().to_string();
    assert!(!shown.contains(&folder), "{shown}");
}

#[test]
fn a_changed_file_is_another_cell_and_another_study() {
    let of = |text: &str| {
        let plan = Folder::with(&[("raptor.toml", text)]).plan("[disks]\nmodel = \"raptor.toml\"");
        (plan.cells[0].id, plan.source)
    };
    let (first, changed) = (of("raptor 300000000"), of("raptor 300000001"));
    assert_ne!(first.0, changed.0);
    assert_ne!(first.1, changed.1);
    assert_eq!(first, of("raptor 300000000"));
}

#[test]
fn the_cells_of_built_in_models_stay_as_they_are() {
    let folder = Folder::with(&[]);
    let id = folder.plan("[disks]\nmodel = \"built-in\"").cells[0].id;
    let source = "[[workload]]\nname = \"w\"\nio = {}\n[disks]\nmodel = \"built-in\"\n";
    let plain = read(source, "own.toml", &Known::default()).expect("a study");
    assert_eq!(plain.cells[0].id, id);
    assert!(plain.models.is_empty() && plain.source == source);
}

#[test]
fn a_model_of_the_users_catalogue_is_that_file_wherever_it_is() {
    let by_name = Folder::with(&[]).plan("[disks]\nmodel = \"mine\"");
    assert_eq!(by_name.models, [OwnModel::new("mine", "mine 4000000")]);
    let by_file = Folder::with(&[("copy.toml", "mine 4000000")]).plan("[disks]\nmodel = \"copy.toml\"");
    assert_eq!(by_file.cells[0].id, by_name.cells[0].id);
    // A file takes precedence, if the study does not name the other, too.
    let other = Folder::with(&[("copy.toml", "mine 5000000")]).plan("[disks]\nmodel = \"copy.toml\"");
    assert_eq!(other.models[0].text, "mine 5000000");
    assert_ne!(other.cells[0].id, by_name.cells[0].id);
}

#[test]
fn two_files_of_one_stem_are_two_cells() {
    let folder = Folder::with(&[("a/disk.toml", "one 4000000"), ("b/disk.toml", "two 4000000")]);
    let plan = folder.plan("[disks]\nmodel = [\"a/disk.toml\", \"b/disk.toml\"]");
    assert_eq!(plan.stack_labels(), ["one ext4", "two ext4"]);
    assert_ne!(plan.cells[0].id, plan.cells[1].id);
}

#[test]
fn groups_may_have_files() {
    let folder = Folder::with(&[("raptor.toml", "raptor 300000000")]);
    let plan = folder.plan("[disks]\ncount = 1\n[disks.journal]\nmodel = \"./raptor.toml\"");
    let groups = &plan.cells[0].machine.disks;
    assert_eq!((groups[0].model.as_str(), &groups[0].model_sha256), ("built-in", &None));
    assert_eq!(groups[1].model, "raptor");
    assert_eq!(groups[1].model_sha256.as_ref(), Some(&plan.models[0].sha256));
}

#[test]
fn claims_and_filters_use_the_models_name() {
    let folder = Folder::with(&[("raptor.toml", "raptor 300000000")]);
    let claim = "[[claim]]\nsays = \"x\"\nthat = \"model=raptor > model=built-in\"";
    let plan = folder.plan(&format!("[disks]\nmodel = [\"./raptor.toml\", \"built-in\"]\n{claim}"));
    assert_eq!(plan.claims.len(), 1);
    assert!(study_file::Only::parse(&["model=raptor"], &plan).is_ok());
}

#[test]
fn on_a_host_it_is_a_note() {
    let folder = Folder::with(&[]);
    let plan = folder.plan("machine = \"host\"\n[disks]\nmodel = \"./nothing.toml\"");
    assert_eq!(plan.cells[0].machine.disks[0].model, "./nothing.toml");
    assert!(plan.models.is_empty());
}

#[test]
fn what_is_wrong_is_said_at_the_place_in_the_study() {
    let folder = Folder::with(&[
        ("taken.toml", "Built-In 4000000"),
        ("one.toml", "raptor 4000000"),
        ("two.toml", "raptor 5000000"),
        ("same.toml", "raptor 4000000"),
        ("mine.toml", "mine 5000000"),
        ("bad.toml", "raptor x"),
        ("below/x", ""),
    ]);
    let correct = "correct the file, or name another model";
    let name = "name a model file in the study's folder or below it; models in ~/.config/raidlab/disks are named without a path";
    let rename = "write another `name` into the file: tables and claims show it";
    let known = "it is one of `built-in` or `mine`; `raidlab disk list` shows all";
    for (model, column, message, help) in [
        (
            "\"./gone.toml\"",
            9,
            "`./gone.toml` cannot be read: no such file or directory",
            name,
        ),
        ("\"below/\"", 9, "`below/` is not a file", name),
        ("\"../x.toml\"", 9, "`../x.toml` is outside the study's folder", name),
        (
            "\"/etc/passwd\"",
            9,
            "`/etc/passwd` is outside the study's folder",
            name,
        ),
        ("\"./bad.toml\"", 9, "./bad.toml:1:7: no number", correct),
        (
            "\"torn\"",
            9,
            "the disk model `torn` cannot be used: torn.toml:3:1: unknown field",
            correct,
        ),
        (
            "\"taken.toml\"",
            9,
            "the model in `taken.toml` has the name of a model of the catalogue, `Built-In`",
            rename,
        ),
        (
            "[\"one.toml\", \"two.toml\"]",
            22,
            "the model in `two.toml` has the name of another model file of this study, `raptor`",
            rename,
        ),
        (
            "[\"mine\", \"mine.toml\"]",
            18,
            "the model in `mine.toml` has the name of a model that this study also names, `mine`",
            rename,
        ),
        (
            "[\"one.toml\", \"./one.toml\"]",
            22,
            "the model of `./one.toml` is in the list twice",
            "leave one of the two out",
        ),
        (
            "[\"one.toml\", \"same.toml\"]",
            22,
            "the model of `same.toml` is in the list twice",
            "leave one of the two out",
        ),
        ("\"raptor\"", 9, "unknown disk model `raptor`", known),
    ] {
        let got = folder.error(&format!("[disks]\nmodel = {model}"));
        assert_eq!(got, (2, column, message.to_owned(), help.to_owned()), "{model}");
    }
    let (line, column, message, _) = folder.error("[disks]\n[disks.journal]\nmodel = \"./gone.toml\"");
    assert_eq!((line, column), (3, 9), "{message}");
}

/// `NAME CORES`.
fn read_processor(file: &str, text: &str) -> Result<KnownProcessor, String> {
    let (name, cores) = text.split_once(' ').ok_or(format!("{file}:1:1: no cores"))?;
    Ok(KnownProcessor {
        name: name.to_owned(),
        cores: cores.trim().parse().map_err(|_| format!("{file}:1:6: no number"))?,
        own: Some(OwnModel::new(name, text)),
    })
}

fn on_processor(files: &[(&str, &str)], cpu: &str) -> Result<Plan, Diagnostics> {
    let folder = Folder::with(files);
    let known = Known {
        processors: vec![KnownProcessor {
            name: "built-in".to_owned(),
            cores: 2,
            own: None,
        }],
        read_processor: Some(read_processor),
        folder: Some(folder.0.path().to_owned()),
        ..Known::default()
    };
    let source = format!("cpu = {cpu}\n[[workload]]\nname = \"w\"\nio = {{}}\n");
    read(&source, "studies/own.toml", &known)
}

#[test]
fn a_processor_may_be_a_file() {
    let files = [("here.toml", "mine 16"), ("other.toml", "other 4")];
    let plan = on_processor(&files, "[\"./here.toml\", \"built-in\", \"infinite\"]").expect("a study");
    let cell = |at: usize| plan.cells[at].machine.processor.as_ref();
    let mine = cell(0).expect("a processor");
    assert_eq!((mine.model.as_str(), mine.cores), ("mine", 16));
    assert_eq!(mine.model_sha256.as_ref(), Some(&plan.processors[0].sha256));
    assert_eq!(cell(1).expect("a processor").model_sha256, None);
    assert_eq!(cell(2), None);
    assert_eq!(plan.processors, [OwnModel::new("mine", "mine 16")]);
    assert!(
        plan.source.ends_with("\n# processor model mine:\n# mine 16\n"),
        "{}",
        plan.source
    );
    // Another file is another cell.
    let changed = on_processor(&[("here.toml", "mine 8")], "\"here.toml\"").expect("a study");
    assert_ne!(changed.cells[0].id, plan.cells[0].id);
}

#[test]
fn processor_files_that_cannot_be_used_are_refused() {
    let files = [
        ("broken.toml", "mine"),
        ("taken.toml", "built-in 2"),
        ("infinite.toml", "infinite 1"),
        ("a.toml", "a 1"),
        ("b.toml", "a 2"),
    ];
    for (cpu, words) in [
        ("\"broken.toml\"", "broken.toml:1:1: no cores"),
        ("\"gone.toml\"", "`gone.toml` cannot be read: no such file"),
        ("\"../broken.toml\"", "is outside the study's folder"),
        (
            "\"taken.toml\"",
            "the model in `taken.toml` has the name of a model of the catalogue, `built-in`",
        ),
        ("\"infinite.toml\"", "has the name of the infinitely fast processor"),
        (
            "[\"a.toml\", \"b.toml\"]",
            "the model in `b.toml` has the name of another model file of this study, `a`",
        ),
        (
            "[\"a.toml\", \"./a.toml\"]",
            "the model of `./a.toml` is in the list twice",
        ),
        ("\"bilt-in\"", "unknown processor `bilt-in`"),
    ] {
        let errors = on_processor(&files, cpu).expect_err(cpu);
        assert_eq!(errors.len(), 1, "{errors}");
        let error = errors.iter().next().expect("one");
        assert!(error.message.contains(words), "{}", error.message);
        assert_eq!(error.line, 1);
    }
}
