use super::*;
use proptest::prelude::*;

/// As 3.489 prints it.
const NEW: &str = "\
	File stride size set to 17 * record size.
                                                              random    random     bkwd    record    stride                                    
              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite frewrite    fread  freread
            4096       4    51178   255950  1222696   511994  1086246   275288   445954   1028623   1023780   594566   293809  3160500  3274348

iozone test complete.
";

/// As 3.3xx printed it: narrower columns, KB.
const OLD: &str = "\
                                                            random  random    bkwd   record   stride                                   
              KB  reclen   write rewrite    read    reread    read   write    read  rewrite     read   fwrite frewrite   fread  freread
            4096       4  189398  487293   854309  1022343  805921  410192  638105   871044   701283   170329   450113  722009   823140

iozone test complete.
";

const PART: &str = "\
                                                              random    random     bkwd    record    stride                                    
              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite frewrite    fread  freread
            4096       4                                                                            1032518                                   

iozone test complete.
";

const SEVERAL: &str = "\
	Throughput test with 2 processes
	Children see throughput for  2 initial writers 	=  381378.19 kB/sec
	Parent sees throughput for  2 initial writers 	=   94434.42 kB/sec
	Children see throughput for 2 re-readers 	= 2498146.59 kB/sec
	Children see throughput for 2 mixed workload 	= 2498146.59 kB/sec
	Children see throughput for  2 fwriters 	=  666463.84 KB/sec

iozone test complete.
";

#[test]
fn tables_of_old_and_new_versions_have_the_13_columns() {
    for (printed, first, last) in [(NEW, 51178.0, 3_274_348.0), (OLD, 189_398.0, 823_140.0)] {
        let found = parse(printed).expect("a table");
        let tests: Vec<IozoneTest> = found.iter().map(|(test, _)| *test).collect();
        assert_eq!(tests, IozoneTest::ALL);
        assert_eq!((found[0].1, found[12].1), (first, last));
    }
}

#[test]
fn blank_columns_are_left_out_and_children_are_told_by_their_words() {
    assert_eq!(parse(PART).expect("a table"), [(IozoneTest::StridedRead, 1_032_518.0)]);
    let several = parse(SEVERAL).expect("lines");
    let tests: Vec<IozoneTest> = several.iter().map(|(test, _)| *test).collect();
    assert_eq!(tests, [IozoneTest::Write, IozoneTest::Reread, IozoneTest::Fwrite]);
    assert_eq!(several[0].1, 381_378.19);
}

#[test]
fn odd_output_says_what_is_odd() {
    let complaint = |printed: &str| parse(printed).expect_err(printed);
    assert!(complaint("").contains("test complete"));
    assert!(complaint(&NEW.replace("iozone test complete.", "Segmentation fault")).contains("test complete"));
    assert!(complaint("iozone test complete.").contains("no figure"));
    assert!(complaint(&NEW.replace("1086246", "1x86246")).contains("`1x86246` is not a number"));
    assert!(complaint(&SEVERAL.replace("= 2498146.59", " ")).contains("has no figure"));
    assert!(complaint(&NEW.replace("   fread  freread\n", "\n")).contains("below no heading"));
}

proptest! {
    #[test]
    fn garbage_panics_nowhere(text in "(kB  reclen|[0-9 \nA-Za-z=.]|iozone test complete){0,200}") {
        let _ = parse(&text);
    }
}
