package dev.bourse.faults;

import dev.bourse.history.RecordedOperation.Kind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A disk that becomes read-only under the process, as kernels make one that fails. Only a new mount
 * mends that, and so only a new start of the process.
 */
final class ReadOnlyDisk implements Scenario {
  private static final int ROUNDS = 4;

  @Override
  public String leftOut() throws Exception {
    Path folder = Files.createTempDirectory("faults-mount");
    String impossible = Mount.impossible(folder);
    if (!impossible.isEmpty()) {
      return impossible;
    }
    Mount trial = Mount.ofDisk(folder.resolve("disk"));
    boolean isMounted = trial.mount();
    trial.unmount();
    return isMounted ? "" : "this machine has no loop devices to mount";
  }

  @Override
  public void run(Run run) throws Exception {
    int rounds = run.rounds(ROUNDS);
    FaultWorld world = new FaultWorld(run, "disk-read-only");
    Mount disk = Mount.ofDisk(world.folder().resolve("disk"));
    if (!disk.mount()) {
      throw new ViolatedException("the disk cannot be mounted");
    }
    ServiceProcess only = world.add("only", disk.folder(), List.of("store.url=sqlite"));
    world.start();
    for (int i = 0; i < rounds; i++) {
      // Not under a flush that is under way: this kernel may call one done that it has cut short.
      only.freeze();
      disk.abort();
      only.thaw();
      long from = world.recorder().now();
      FullDisk.untilSeen(
          world, from, "writes are refused on a read-only disk", Kind.WRITE, "overloaded", 20);
      FullDisk.untilSeen(world, from, "reads go on on a read-only disk", Kind.READ, "", 50);
      only.kill();
      disk.unmount();
      if (!disk.mount()) {
        throw new ViolatedException("the disk cannot be mounted again");
      }
      only.start();
      world.untilWritten("writes go on once the disk can be written", 20);
    }
    run.judge(
        world, "a disk made read-only " + rounds + " times, and mounted anew for the next start");
    disk.unmount();
  }
}
