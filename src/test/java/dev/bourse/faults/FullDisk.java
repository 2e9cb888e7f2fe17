package dev.bourse.faults;

import dev.bourse.history.RecordedOperation;
import dev.bourse.history.RecordedOperation.Kind;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** A disk that is full: writes are refused by the code for that, reads go on, room mends it. */
final class FullDisk implements Scenario {
  private static final int ROUNDS = 8;
  private static final int DISK_MIB = 64;

  /** What may be said to a write meanwhile: besides that, what depends on other writes. */
  private static final Set<String> REFUSALS =
      Set.of("storage-full", "version-mismatch", "not-found", "no-ssh-keys");

  @Override
  public String leftOut() throws Exception {
    return Mount.impossible(Files.createTempDirectory("faults-mount"));
  }

  @Override
  public void run(Run run) throws Exception {
    int rounds = run.rounds(ROUNDS);
    FaultWorld world = new FaultWorld(run, "disk-full");
    Mount disk = Mount.inMemory(world.folder().resolve("disk"), DISK_MIB);
    if (!disk.mount()) {
      throw new ViolatedException("the disk cannot be mounted");
    }
    ServiceProcess only = world.add("only", disk.folder(), List.of("store.url=sqlite"));
    world.start();
    Random random = new Random(run.seed());
    Path filler = disk.folder().resolve("filler");
    for (int i = 0; i < rounds; i++) {
      fill(filler, 1 + random.nextInt(64));
      long from = world.recorder().now();
      untilSeen(world, from, "writes are refused for want of room", Kind.WRITE, "storage-full", 20);
      untilSeen(world, from, "reads go on on a full disk", Kind.READ, "", 50);
      boolean isKilled = i % 2 == 1;
      if (isKilled) {
        only.kill();
      }
      long to = world.recorder().now();
      Files.delete(filler);
      if (isKilled) {
        only.start();
      }
      requireRefusals(world, from, to);
      world.untilWritten("writes go on once there is room", 20);
    }
    run.judge(
        world, "a disk filled up " + rounds + " times, and the process killed upon each second");
    disk.unmount();
  }

  /** Takes all the room there is, in pieces of some KiB. */
  static void fill(Path filler, int kib) throws IOException {
    byte[] piece = new byte[kib << 10];
    try (OutputStream out = Files.newOutputStream(filler)) {
      while (true) {
        out.write(piece);
      }
    } catch (IOException full) {
      if (!String.valueOf(full.getMessage()).contains("No space left")) {
        throw full;
      }
    }
  }

  /** Waits for so many operations of a kind that begin from now on and are answered so. */
  static void untilSeen(
      FaultWorld world, long from, String what, Kind kind, String code, int number) {
    FaultWorld.until(
        what,
        30,
        () ->
            world.recorder().since(from).stream()
                    .filter(
                        o ->
                            o.kind() == kind
                                && o.invokedMicros() >= from
                                && (code.isEmpty()
                                    ? o.outcome() == RecordedOperation.Outcome.ACKNOWLEDGED
                                    : o.shown().equals(code)))
                    .count()
                >= number);
  }

  private static void requireRefusals(FaultWorld world, long from, long to) {
    for (RecordedOperation operation : world.recorder().since(from)) {
      boolean isWithin = operation.invokedMicros() >= from && operation.completedMicros() <= to;
      if (isWithin
          && operation.outcome() == RecordedOperation.Outcome.REFUSED
          && !REFUSALS.contains(operation.shown())) {
        throw new ViolatedException("on a full disk a request is refused otherwise: " + operation);
      }
    }
  }
}
