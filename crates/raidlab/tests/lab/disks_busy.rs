//! Utilisation of the disks during each test, and that it covers only the test.

use crate::laboratory::Laboratory;

/// Random reads from four disks: one after the other, many at a time, and seven per second, which is out of step
/// with the kernel's ticks.
const READS: &str = "ram = \"256M\"\n[disks]\nmodel = \"wd-500gb-2007\"\ncount = 4\n\
    [[stack]]\narray = { level = 0 }\nfs = { type = \"raw\" }\n\
    [[workload]]\nname = \"one\"\nio = { rw = \"randread\", bs = \"4K\", size = \"100G\", direct = true, runtime = \"10s\" }\n\
    [[workload]]\nname = \"many\"\n\
    io = { rw = \"randread\", bs = \"4K\", size = \"100G\", direct = true, iodepth = 64, runtime = \"10s\" }\n\
    [[workload]]\nname = \"paced\"\n\
    io = { rw = \"randread\", bs = \"4K\", size = \"100G\", direct = true, rate_iops = 7, runtime = \"30s\" }\n\
    [precision]\ntrials = 1\n";

#[test]
fn disks_are_as_busy_as_their_requests_make_them() {
    let Some(laboratory) = Laboratory::open() else { return };
    let results = laboratory.run(READS);
    let busy = |workload: &str| {
        let of = |metric: &str| results.sample(workload, "randread", metric);
        (of("device_busy"), of("device_busiest"))
    };
    // One of four disks has a request at any time.
    let (one, busiest) = busy("one");
    assert!(
        (22.0..27.0).contains(&one) && (one..35.0).contains(&busiest),
        "{one} {busiest}"
    );
    let (many, busiest) = busy("many");
    assert!(many > 85.0 && (many..=100.0).contains(&busiest), "{many} {busiest}");
    let (paced, _) = busy("paced");
    let expected = 7.0 / results.sample("one", "randread", "iops") * 100.0 / 4.0;
    assert!(
        (0.8 * expected..1.2 * expected).contains(&paced),
        "{paced}, not {expected}"
    );
}
