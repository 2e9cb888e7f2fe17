package dev.bourse.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.uploads.ResumableUploads;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Sets of a member; their files are named by numbers. */
public abstract class SetFixture extends CheckpointFixture {
  private @Nullable Services made;

  /** Returns the default process. */
  public Services process() {
    Services running = made;
    if (running == null) {
      running = services();
      made = running;
    }
    return running;
  }

  /** Makes another process the default. */
  public void goOnAt(Services process) {
    made = process;
  }

  public static List<SetFile> files(byte[]... contents) {
    List<SetFile> files = new ArrayList<>();
    for (int i = 0; i < contents.length; i++) {
      files.add(SetFile.announced(i, i + ".bin", contents[i].length, sha256(contents[i])));
    }
    return files;
  }

  public CheckpointService.AnnouncedSet announce(String name, byte[]... contents) throws Exception {
    return await(announce(process(), name, contents));
  }

  public Future<CheckpointService.AnnouncedSet> announce(
      Services process, String name, byte[]... contents) {
    List<SetFile> files = files(contents);
    long bytes = files.stream().mapToLong(SetFile::bytes).sum();
    return process.checkpoints.publishSet(
        member("alice"),
        new CheckpointService.SetAnnouncement(
            new Metadata("A set", "", name, SetFile.MANIFEST_TYPE, bytes, null, files.size()),
            Visibility.ORG,
            ReplacePolicy.ANY,
            files));
  }

  /** Sends a whole file. */
  public Future<ResumableUploads.Progress> put(
      CheckpointService.AnnouncedSet set, int number, byte[] content) {
    return put(process(), set, number, content);
  }

  public static Future<ResumableUploads.Progress> put(
      Services process, CheckpointService.AnnouncedSet set, int number, byte[] content) {
    return process.files.put(set.announced().session(), number, Optional.empty(), source(content));
  }

  /** Sends bytes of a file. */
  public static Future<ResumableUploads.Progress> put(
      Services process,
      CheckpointService.AnnouncedSet set,
      int number,
      byte[] content,
      int from,
      int to) {
    return process.files.put(
        set.announced().session(),
        number,
        Optional.of("bytes " + from + '-' + (to - 1) + '/' + content.length),
        source(content, from, to, null));
  }

  /** Queries the progress of a file. */
  public static Future<ResumableUploads.Progress> ask(
      Services process, CheckpointService.AnnouncedSet set, int number) {
    return process.files.put(
        set.announced().session(),
        number,
        Optional.of("bytes */*"),
        source(new byte[0], 0, 0, null));
  }

  /** Sends the missing files. */
  public void send(CheckpointService.AnnouncedSet set, byte[]... contents) throws Exception {
    for (int number : set.missing()) {
      assertTrue(await(put(set, number, contents[number])).isComplete());
    }
  }

  public Future<CheckpointStore.Listed> commit(CheckpointService.AnnouncedSet set) {
    return commit(process(), set);
  }

  public Future<CheckpointStore.Listed> commit(
      Services process, CheckpointService.AnnouncedSet set) {
    CheckpointService.Announced announced = set.announced();
    return process.sessions.commit(
        member("alice"),
        announced.item().id(),
        announced.draft().metadata().bytes(),
        Optional.empty());
  }

  /** Announces a set, sends missing files and commits; returns the item's id. */
  public String publish(String name, byte[]... contents) throws Exception {
    CheckpointService.AnnouncedSet set = announce(name, contents);
    send(set, contents);
    return await(commit(set)).item().id();
  }

  /** Runs the sweep, long after, until it finds nothing to do. */
  public void sweep() throws Exception {
    clock.advance(Sweep.ORPHAN_AGE_MILLIS + 10 * CONFIG.graceMillis());
    while (await(process().sweep.run()) > 0) {
      clock.advance(10 * CONFIG.graceMillis());
    }
  }

  public void nothingIsLeft() throws Exception {
    assertEquals(List.of(), names(true));
    assertEquals(List.of(), names(false));
    for (String table : List.of("checkpoint_file", "checkpoint_blob", "checkpoint_garbage")) {
      assertEquals(0L, integers("SELECT COUNT(*) FROM " + table).get(0), table);
    }
    assertEquals(0L, accountedBytes());
  }
}
