package dev.bourse.simulation;

import dev.bourse.app.BareProcess;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.CheckpointStore;
import dev.bourse.checkpoint.Metadata;
import dev.bourse.checkpoint.Publisher;
import dev.bourse.checkpoint.ReplacePolicy;
import dev.bourse.checkpoint.Revision;
import dev.bourse.checkpoint.Visibility;
import dev.bourse.core.ApiException;
import dev.bourse.core.Digests;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.TokenSecret;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Members who publish files, through the process whose disk stores them: that of the first slot.
 * Each file belongs to one client, which does one thing at a time.
 */
final class UploadClients {
  private static final String MEMBER = "ada";
  static final String TYPE = "text/plain";
  private static final int MOST_BYTES = 6_000;

  /** Attempts after which a client gives its upload up. */
  private static final int MOST_TRIES = 40;

  /** An answer that takes longer never arrives, if its process has died. */
  private static final long LOOK_MILLIS = 2_000;

  private final World world;
  private final TreeMap<String, UploadPlace> places = new TreeMap<>();
  private final UploadReaders readers;

  UploadClients(World world) {
    this.world = world;
    readers = new UploadReaders(world, this);
  }

  /** Returns the places, by organization and name. */
  SortedMap<String, UploadPlace> places() {
    return places;
  }

  /** Returns the readers of published files. */
  UploadReaders readers() {
    return readers;
  }

  static String digest(byte[] bytes) {
    return HexFormat.of().formatHex(Digests.sha256(bytes));
  }

  UploadPlace place(String organization, String name) {
    return places.computeIfAbsent(
        organization + '/' + name, key -> new UploadPlace(organization, name));
  }

  /** Returns the process that stores the bytes, if it takes requests. */
  @Nullable Replica keeper() {
    Replica replica = world.slots().get(0).replica;
    return replica != null && replica.isReady() ? replica : null;
  }

  private Disk disk() {
    return world.slots().get(0).disk;
  }

  static Publisher publisher(BareProcess core, String organization) {
    String id =
        core.members()
            .findId(organization, MEMBER)
            .orElseThrow(() -> ApiException.notFound("member", MEMBER));
    return new Publisher(organization, MEMBER, id, "member:" + MEMBER, null, false, null);
  }

  /** Publishes a file, in one request or in a session. */
  void upload(UploadPlace place, boolean isResumable, SplittableRandom random) {
    Replica process = keeper();
    if (process == null || place.isBusy) {
      return;
    }
    int doom = random.nextInt(8);
    byte[] bytes = content(random, doom == 0);
    UploadAttempt attempt = new UploadAttempt(place, bytes, doom <= 1, random);
    boolean isDeclared = doom == 1 || random.nextBoolean();
    String declared = doom == 1 ? digest(new byte[1]) : attempt.sha256;
    if (!attempt.isDoomed) {
      place.contents.put(attempt.sha256, bytes);
    }
    place.isBusy = true;
    CheckpointService.Announcement publication =
        new CheckpointService.Announcement(
            new Metadata("t", "", place.name, TYPE, bytes.length, isDeclared ? declared : null),
            Visibility.ORG,
            Optional.of(isResumable),
            ReplacePolicy.ANY);
    giveUpWith(process, attempt);
    world.clients.call(
        process,
        "announces " + place.organization + '/' + place.name,
        core ->
            core.checkpoints()
                .publish(publisher(core, place.organization), publication)
                .onSuccess(
                    announced -> {
                      attempt.step++;
                      attempt.itemId = announced.item().id();
                      attempt.revision = announced.draft().number();
                      attempt.session = announced.session();
                      if (isResumable) {
                        goOn(attempt);
                      } else {
                        send(process, attempt);
                      }
                    })
                .onFailure(e -> place.isBusy = false));
  }

  private static byte[] content(SplittableRandom random, boolean isSecret) {
    StringBuilder text = new StringBuilder();
    int length = random.nextInt(1, MOST_BYTES);
    while (text.length() < length) {
      text.append("row ").append(random.nextInt(1_000)).append('\n');
    }
    if (isSecret) {
      int at = text.lastIndexOf("\n", random.nextInt(text.length())) + 1;
      text.insert(at, TokenSecret.mint(random).text() + '\n');
    }
    return text.toString().getBytes(StandardCharsets.US_ASCII);
  }

  /** If the process dies before it answers, the client stops waiting. */
  private void giveUpWith(Replica process, UploadAttempt attempt) {
    int step = attempt.step;
    world.scheduler.afterMillis(
        LOOK_MILLIS,
        () -> {
          if (attempt.step != step || !attempt.place.isBusy) {
            return;
          }
          if (!process.isDead()) {
            giveUpWith(process, attempt);
          } else if (attempt.session.isEmpty()) {
            attempt.place.isBusy = false;
          } else {
            goOn(attempt);
          }
        });
  }

  private void send(Replica process, UploadAttempt attempt) {
    UploadPlace place = attempt.place;
    giveUpWith(process, attempt);
    world.clients.call(
        process,
        "sends " + attempt.itemId + " in one request",
        core ->
            core.directUploads()
                .put(
                    publisher(core, place.organization),
                    attempt.itemId,
                    new UploadSender(process, attempt, 0, attempt.bytes.length))
                .onSuccess(listed -> acknowledged(attempt, listed))
                .onComplete(done -> place.isBusy = false));
  }

  /** Continues a session at its position, through the present process. */
  private void goOn(UploadAttempt attempt) {
    int step = ++attempt.step;
    Replica process = keeper();
    if (++attempt.tries > MOST_TRIES) {
      attempt.place.isBusy = false;
    } else if (process == null) {
      world.scheduler.afterMillis(LOOK_MILLIS, () -> goOn(attempt));
    } else {
      giveUpWith(process, attempt);
      world.clients.call(
          process,
          "asks how far " + attempt.itemId + " is",
          core ->
              core.uploadSessions()
                  .put(
                      attempt.session,
                      Optional.of("bytes */" + attempt.bytes.length),
                      new UploadSender(process, attempt, 0, 0))
                  .onComplete(
                      done -> {
                        if (attempt.step != step) {
                          return;
                        }
                        if (done.failed()) {
                          missed(attempt, done.cause());
                        } else if (check(attempt, done.result().stored())) {
                          proceed(process, attempt, done.result().stored());
                        }
                      }));
    }
  }

  /** Checks that stored bytes are the sent ones, and that no acknowledged byte is lost. */
  private boolean check(UploadAttempt attempt, long stored) {
    Disk disk = disk();
    if (stored < attempt.kept && attempt.losses == disk.losses()) {
      return fail(attempt, "had " + attempt.kept + " bytes and has " + stored);
    }
    Disk.File file = disk.uploads.get(attempt.itemId + '.' + attempt.revision);
    if (file == null || disk.hasLost()) {
      return true;
    }
    int length = (int) stored;
    if (file.bytes.length < length
        || length > attempt.bytes.length
        || !Arrays.equals(file.bytes, 0, length, attempt.bytes, 0, length)) {
      return fail(attempt, "has other bytes than were sent among the first " + stored);
    }
    return true;
  }

  private boolean fail(UploadAttempt attempt, String what) {
    world.fail(
        new ViolationException(
            "SessionsKeepTheirBytes", "the session of " + attempt.itemId + ' ' + what));
    return false;
  }

  private void proceed(Replica process, UploadAttempt attempt, long stored) {
    if (stored == attempt.bytes.length) {
      commit(process, attempt);
      return;
    }
    int step = ++attempt.step;
    int from = (int) stored;
    int to = attempt.random.nextInt(from, attempt.bytes.length) + 1;
    attempt.losses = disk().losses();
    attempt.kept = stored;
    attempt.sent = Math.max(attempt.sent, to);
    giveUpWith(process, attempt);
    world.clients.call(
        process,
        "sends " + attempt.itemId + " from " + from + " to " + to,
        core ->
            core.uploadSessions()
                .put(
                    attempt.session,
                    Optional.of("bytes " + from + '-' + (to - 1) + '/' + attempt.bytes.length),
                    new UploadSender(process, attempt, from, to))
                .onComplete(
                    done -> {
                      if (attempt.step != step) {
                        return;
                      }
                      if (done.succeeded()) {
                        attempt.kept = done.result().stored();
                        // An earlier request, whose answer was lost, may have stored more.
                        boolean isLost = attempt.kept < to && attempt.losses == disk().losses();
                        if (isLost || attempt.kept > attempt.sent) {
                          fail(attempt, "has " + attempt.kept + " bytes of " + to);
                        }
                      } else if (attempt.isDoomed) {
                        // The bytes of a secret are discarded before the rejection is stored, if it
                        // is.
                        attempt.kept = 0;
                      }
                      missed(attempt, done.cause());
                    }));
  }

  private void commit(Replica process, UploadAttempt attempt) {
    int step = ++attempt.step;
    giveUpWith(process, attempt);
    UploadPlace place = attempt.place;
    world.clients.call(
        process,
        "commits " + attempt.itemId,
        core ->
            core.uploadSessions()
                .commit(
                    publisher(core, place.organization),
                    attempt.itemId,
                    attempt.bytes.length,
                    Optional.of(attempt.sha256))
                .onSuccess(listed -> acknowledged(attempt, listed))
                .onComplete(
                    done -> {
                      if (attempt.step != step) {
                        return;
                      }
                      if (done.succeeded()) {
                        attempt.step++;
                        place.isBusy = false;
                        return;
                      }
                      if (done.cause() instanceof ApiException e
                          && "sha-mismatch".equals(e.extras().get("reason"))
                          && !attempt.isDoomed
                          && !disk().hasLost()) {
                        fail(attempt, "is refused its digest");
                      }
                      missed(attempt, done.cause());
                    }));
  }

  /** A request failed: the client continues after a while, or finds that the upload is over. */
  private void missed(UploadAttempt attempt, @Nullable Throwable cause) {
    attempt.step++;
    boolean isOver =
        cause instanceof ApiException e
            && e.code() != ErrorCode.OVERLOADED
            && e.code() != ErrorCode.STORAGE_FULL
            && !"object-missing".equals(e.extras().get("reason"));
    if (isOver) {
      attempt.place.isBusy = false;
    } else {
      world.scheduler.afterMillis(
          cause == null ? attempt.random.nextLong(1, 3_000) : LOOK_MILLIS, () -> goOn(attempt));
    }
  }

  private void acknowledged(UploadAttempt attempt, CheckpointStore.Listed listed) {
    Checkpoint item = listed.item();
    Revision live = item.live();
    if (attempt.isDoomed) {
      fail(attempt, "was to be refused and is published");
    } else if (live == null
        || live.number() < attempt.revision
        || (live.number() == attempt.revision && !attempt.sha256.equals(live.sha256()))) {
      fail(attempt, "was acknowledged with " + live);
    } else {
      UploadPlace place = attempt.place;
      place.acknowledged =
          new UploadPlace.Acknowledged(item.id(), attempt.revision, attempt.sha256);
      if (attempt.random.nextBoolean()) {
        world.scheduler.afterMillis(attempt.random.nextLong(1, 500), () -> readers.read(place));
      }
    }
  }

  /** Names of files in each organization: few, so that files are replaced. */
  static List<String> names() {
    return List.of("a.txt", "b.txt");
  }
}
