package dev.bourse.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * A process dies at every step of a publication: before each call to the store and the blobs, and
 * after it, when the call was executed but its answer was lost.
 */
class CrashStepsTest extends CheckpointFixture {
  private static final byte[] OLD = bytes(1_000, 1);
  private static final byte[] NEW = bytes(2_000, 2);
  private static final byte[][] EDITIONS = {OLD, NEW};

  private static final Optional<String> NO_SHA = Optional.empty();

  /** A client's steps to publish a new revision of a file. */
  private interface Client {
    Future<?> publish(Services services, String fileName);
  }

  private Future<?> directly(Services services, String fileName) {
    return announce(services, fileName, NEW, false)
        .compose(
            announced -> services.direct.put(member("alice"), announced.item().id(), source(NEW)));
  }

  private Future<?> inSession(Services services, String fileName) {
    return announce(services, fileName, NEW, true)
        .compose(
            announced ->
                services
                    .sessions
                    .put(announced.session(), Optional.empty(), source(NEW))
                    .compose(
                        sent ->
                            services.sessions.commit(
                                member("alice"), announced.item().id(), NEW.length, NO_SHA)));
  }

  private Future<CheckpointService.Announced> announce(
      Services services, String fileName, byte[] bytes, boolean resumable) {
    return services.checkpoints.publish(
        member("alice"), publication(Visibility.ORG, fileName, bytes, resumable));
  }

  @Test
  void directPublicationsLeaveTheOldEditionOrTheNewOne() throws Exception {
    dieAtEveryStep(this::directly);
  }

  /** Takes seconds: a publication dies before and after each call to the disk and to the store. */
  @Test
  void committedPublicationsLeaveTheOldEditionOrTheNewOne() throws Exception {
    dieAtEveryStep(this::inSession);
  }

  private void dieAtEveryStep(Client client) throws Exception {
    boolean finished = false;
    int oldSeen = 0;
    int newSeen = 0;
    for (int calls = 0; !finished; calls++) {
      assertTrue(calls < 100, "the publication never ends");
      for (boolean carriesOutTheLast : new boolean[] {false, true}) {
        String fileName = "f" + calls + carriesOutTheLast;
        String id = publishOld(fileName);
        DyingProcess process = new DyingProcess(this, database, calls, carriesOutTheLast);
        Future<?> published = client.publish(process.services(), fileName);
        eventually("dies or ends", () -> process.isDead() || published.isComplete());
        finished = published.isComplete();
        reopen();
        int edition = edition(id);
        oldSeen += edition == 0 ? 1 : 0;
        newSeen += edition == 1 ? 1 : 0;
        assertEquals(countedBytes(), accountedBytes(), fileName);
        sweep();
        assertEquals(edition, edition(id), "the sweep changes nothing that is read");
        assertEquals(List.of(), names(false), "no upload outlives the sweep");
        assertEquals(1, names(true).size(), "no blob outlives the sweep but the one read");
        assertEquals(EDITIONS[edition].length, accountedBytes());
        await(services().checkpoints.delete(member("alice"), id));
        sweep();
        assertEquals(List.of(), names(true));
        assertEquals(0, accountedBytes());
      }
    }
    assertTrue(oldSeen > 4 && newSeen >= 2, oldSeen + " old, " + newSeen + " new");
  }

  @Test
  void aSessionCutShortAtAnyStepOfItsCommitIsCommittedByTheNext() throws Exception {
    boolean finished = false;
    for (int calls = 0; !finished; calls++) {
      assertTrue(calls < 100, "the commit never ends");
      for (boolean carriesOutTheLast : new boolean[] {false, true}) {
        CheckpointService.Announced announced =
            await(announce(services(), "f" + calls + carriesOutTheLast, NEW, true));
        String id = announced.item().id();
        await(services().sessions.put(announced.session(), Optional.empty(), source(NEW)));
        reopen();
        DyingProcess process = new DyingProcess(this, database, calls, carriesOutTheLast);
        Future<?> committed =
            process.services().sessions.commit(member("alice"), id, NEW.length, NO_SHA);
        eventually("dies or ends", () -> process.isDead() || committed.isComplete());
        finished = committed.isComplete();
        reopen();
        boolean isOver = await(services().store.find(id)).orElseThrow().item().draft() == null;
        Future<CheckpointStore.Listed> again =
            services().sessions.commit(member("alice"), id, NEW.length, NO_SHA);
        if (isOver) {
          fails(ApiException.class, again);
        } else {
          await(again);
        }
        Checkpoint item = await(services().checkpoints.get(LAB.orgId(), id)).item();
        assertArrayEquals(NEW, content(item, CheckpointView.live(item)));
      }
    }
  }

  private String publishOld(String fileName) throws Exception {
    CheckpointService.Announced announced = await(announce(services(), fileName, OLD, false));
    String id = announced.item().id();
    await(services().direct.put(member("alice"), id, source(OLD)));
    return id;
  }

  /** Returns which revision readers get; it must be complete. */
  private int edition(String id) throws Exception {
    Checkpoint item = await(services().checkpoints.get(LAB.orgId(), id)).item();
    Revision live = CheckpointView.live(item);
    byte[] bytes = content(item, live);
    assertEquals(sha256(bytes), live.sha256());
    assertEquals(bytes.length, live.metadata().bytes());
    for (int i = 0; i < EDITIONS.length; i++) {
      if (sha256(EDITIONS[i]).equals(live.sha256())) {
        return i;
      }
    }
    throw new AssertionError("readers get neither edition");
  }

  private void reopen() throws Exception {
    await(blobs.close());
    blobs = await(openLocal());
  }

  /** Sweeps until nothing is left to do, long after every started upload has expired. */
  private void sweep() throws Exception {
    // Files carry the machine's time, the rows this clock's.
    long ahead = Math.max(0, System.currentTimeMillis() - clock.millis());
    clock.advance(ahead + 10 * Sweep.ORPHAN_AGE_MILLIS);
    Sweep sweep = services().sweep;
    Function<Integer, Boolean> isDone = done -> done == 0;
    int quiet = 0;
    while (quiet < 2) {
      quiet = isDone.apply(await(sweep.run())) ? quiet + 1 : 0;
      clock.advance(10 * CONFIG.sessionMillis());
    }
  }
}
