package dev.bourse.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.testing.Slow;
import io.vertx.core.Future;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A process dies at every step of the publication of a set, and another one continues. */
class SetCrashTest extends SetFixture {
  private static final byte[] SHARED = bytes(3_000, 1);
  private static final byte[] OLD = bytes(2_000, 2);
  private static final byte[] NEW = bytes(1_000, 3);

  private interface Deed {
    void to(String id) throws Exception;
  }

  /**
   * Ends a client's calls at each step in turn, and checks the result every time.
   *
   * @param before changes that earlier processes made to the item
   */
  private void dieAtEveryStep(Deed before, Function<Services, Future<?>> client, Deed after)
      throws Exception {
    boolean isOver = false;
    for (int calls = 0; !isOver; calls++) {
      assertTrue(calls < 100, "the publication never ends");
      for (boolean carriesOutTheLast : new boolean[] {false, true}) {
        String id = publish("set", SHARED, OLD);
        before.to(id);
        reopen();
        DyingProcess process = new DyingProcess(this, database, calls, carriesOutTheLast);
        Future<?> done = client.apply(process.services());
        eventually("dies or ends", () -> process.isDead() || done.isComplete());
        isOver = done.isComplete();
        reopen();
        after.to(id);
        await(process().checkpoints.delete(member("alice"), id));
        sweep();
        nothingIsLeft();
      }
    }
  }

  private void reopen() throws Exception {
    await(blobs.close());
    blobs = await(openLocal());
    goOnAt(services());
  }

  /** Returns which of the two sets readers get; all its files must be readable. */
  private boolean isNew(String id) throws Exception {
    Checkpoint item = await(process().checkpoints.get(LAB.orgId(), id)).item();
    Revision live = CheckpointView.live(item);
    byte[] manifest = content(item, live);
    boolean isNew = live.metadata().bytes() == SHARED.length + NEW.length;
    byte[][] contents = {SHARED, isNew ? NEW : OLD};
    assertArrayEquals(SetFile.manifest(files(contents)), manifest);
    SetStore sets = new SetStore(database);
    for (byte[] bytes : contents) {
      Content file = await(sets.findShownFile(LAB.orgId(), id, sha256(bytes))).orElseThrow();
      assertArrayEquals(bytes, content(blobs, String.valueOf(file.key())));
    }
    assertEquals(countedBytes(), accountedBytes());
    return isNew;
  }

  private Future<?> publishNew(Services process) {
    return announce(process, "set", SHARED, NEW)
        .compose(
            set -> {
              assertEquals(List.of(1), set.missing());
              return put(process, set, 1, NEW).compose(sent -> commit(process, set));
            });
  }

  @Test
  @Slow("publishes a set twice for each step at which a process can die")
  void readersHaveTheOldSetOrTheNewOneWholeAndTheNextPublicationEnds() throws Exception {
    dieAtEveryStep(
        id -> {},
        this::publishNew,
        id -> {
          isNew(id);
          assertEquals(id, publish("set", SHARED, NEW));
          assertTrue(isNew(id));
          sweep();
          assertTrue(isNew(id), "the sweep changes nothing that is read");
          assertEquals(List.of(), names(false));
          assertEquals(3, names(true).size(), "two files and the manifest");
        });
  }

  @Test
  @Slow("publishes a set twice for each step at which a process can die")
  void aFileAndACommitCutShortAtAnyStepAreEndedByTheNextWithoutItsBytesSentAgain()
      throws Exception {
    AtomicReference<CheckpointService.@Nullable AnnouncedSet> announced = new AtomicReference<>();
    Supplier<CheckpointService.AnnouncedSet> awaited =
        () -> Objects.requireNonNull(announced.get());
    dieAtEveryStep(
        id -> {
          announced.set(announce("set", SHARED, NEW));
          await(put(process(), awaited.get(), 1, NEW, 0, NEW.length - 1));
        },
        process ->
            put(process, awaited.get(), 1, NEW, NEW.length - 1, NEW.length)
                .compose(sent -> commit(process, awaited.get())),
        id -> {
          if (await(process().checkpoints.get(LAB.orgId(), id)).item().draft() == null) {
            fails(ApiException.class, commit(awaited.get()));
          } else {
            if (!await(ask(process(), awaited.get(), 1)).isComplete()) {
              await(put(process(), awaited.get(), 1, NEW, NEW.length - 1, NEW.length));
            }
            await(commit(awaited.get()));
          }
          assertTrue(isNew(id));
        });
  }
}
