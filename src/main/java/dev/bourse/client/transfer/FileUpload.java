package dev.bourse.client.transfer;

import dev.bourse.core.Sizes;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import dev.bourse.remote.Service.Request;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Publishes a file: announces it, sends its bytes at the service's request, and commits it. */
public final class FileUpload {
  /** The longest file sent in one request, unless the service decides otherwise. */
  static final long MAX_DIRECT_BYTES = 32L << 20;

  public static final String FAMILY = "/api/checkpoints";

  /**
   * The time limit of a request with bytes. {@link StallWatchdog} ends stalled ones; the service
   * accepts bodies as slow as 512 bytes a second, so this must not end them earlier.
   */
  static final Duration TRANSFER = Duration.ofDays(1);

  /** After a restart the service first digests the bytes it has, two seconds for each GiB. */
  private static final Duration COMMIT = Duration.ofMinutes(10);

  private final Service service;
  private final CommandEnvironment environment;
  private final CommittedItems committed;
  private final UploadStates states;
  private final PrintWriter err;

  public FileUpload(
      Service service, CommandEnvironment environment, UploadStates states, PrintWriter err) {
    this.service = service;
    this.environment = environment;
    this.committed = new CommittedItems(service);
    this.states = states;
    this.err = err;
  }

  /**
   * Publishes a file.
   *
   * @param publication the announcement without the number and digest of the bytes
   * @return the item
   */
  public JsonObject publish(LocalFile file, JsonObject publication) throws RefusedException {
    JsonObject announced = publication.copy().put("bytes", file.size());
    try (UploadStates.Place place = states.take(service.baseUrl(), file.path())) {
      if (file.size() <= MAX_DIRECT_BYTES) {
        announced.put("sha256", file.sha256());
      } else {
        announced.put("upload", "resumable");
      }
      OngoingUpload begun = resumed(place, file, announced);
      if (begun == null) {
        JsonObject answer = service.call("POST", FAMILY, announced);
        if ("direct".equals(answer.getString("upload"))) {
          return direct(file, announced, answer.getString("id"));
        }
        begun = new OngoingUpload(place, file, state(file, announced, answer), new PrefixDigest());
        place.write(begun.state.toJson());
      }
      return resumable(begun);
    }
  }

  private static UploadState state(LocalFile file, JsonObject announced, JsonObject answer) {
    return new UploadState(
        announced,
        answer.getString("id"),
        answer.getString("session_url"),
        answer.getInstant("expires_at"),
        file.size(),
        file.modifiedMillis(),
        0,
        new PrefixDigest().sha256());
  }

  private JsonObject direct(LocalFile file, JsonObject announced, String id)
      throws RefusedException {
    try (Progress progress = progress(file, 0)) {
      RetryPolicy retries = new RetryPolicy(environment, progress);
      while (true) {
        file.requireUnchanged();
        FileRange outgoing = FileRange.plain(file.path(), 0, file.size(), progress);
        Request request =
            new Request(
                "PUT",
                service.baseUrl() + item(id) + "/content",
                Map.of("Content-Type", announced.getString("content_type")),
                outgoing.body());
        try {
          return service.answer(
              StallWatchdog.run(
                  progress, () -> service.let(request, BodyHandlers.ofString(), TRANSFER)));
        } catch (RefusedException e) {
          JsonObject landed =
              committed.find(e, id, hasDigest(announced.getString("sha256")), retries);
          if (landed != null) {
            return landed;
          }
          retries.after(e);
        }
      }
    }
  }

  private static Predicate<JsonObject> hasDigest(String sha256) {
    return item -> sha256.equals(item.getString("sha256"));
  }

  public static String item(String id) {
    return FAMILY + '/' + Service.encoded(id);
  }

  private Progress progress(LocalFile file, long start) {
    return new Progress(err, environment, file.name(), start, file.size());
  }

  /** A resumable upload in progress: the sent part of the file, and its digest. */
  private static final class OngoingUpload {
    private final UploadStates.Place place;
    private final LocalFile file;
    private UploadState state;
    private PrefixDigest sent;

    /** The digest of an attempted commit; null before the first. */
    private @Nullable String committed;

    OngoingUpload(UploadStates.Place place, LocalFile file, UploadState state, PrefixDigest sent) {
      this.place = place;
      this.file = file;
      this.state = state;
      this.sent = sent;
    }

    void store() throws RefusedException {
      state = state.at(sent);
      place.write(state.toJson());
    }

    /** Records how many bytes the service has. */
    void recordOffset(long kept, FileRange outgoing) throws RefusedException {
      PrefixDigest ahead = outgoing.sent();
      if (kept == ahead.length()) {
        sent = ahead;
      } else {
        recordOffset(kept);
      }
    }

    void recordOffset(long kept) throws RefusedException {
      if (kept < sent.length()) {
        sent = new PrefixDigest();
      }
      sent.read(file.path(), kept);
    }
  }

  /** The unfinished upload of an earlier command; null if there is none that can be resumed. */
  private @Nullable OngoingUpload resumed(
      UploadStates.Place place, LocalFile file, JsonObject announced) throws RefusedException {
    JsonObject stored = place.read();
    if (stored.isEmpty()) {
      return null;
    }
    UploadState state = UploadState.of(stored);
    boolean isSame = state.isOf(file) && state.announced().equals(announced);
    boolean isWhole = isSame;
    if (isSame && environment.clock().instant().isBefore(state.expiresAt())) {
      // The file must still start with the bytes that were sent.
      PrefixDigest sent = new PrefixDigest().read(file.path(), state.hashedBytes());
      isWhole = sent.sha256().equals(state.sha256());
      if (isWhole) {
        OngoingUpload begun = new OngoingUpload(place, file, state, sent);
        if (isThere(begun)) {
          return begun;
        }
      }
    }
    err.println(
        file.name()
            + (isWhole
                ? ": the earlier upload has ended; starting again"
                : ": the file or its description changed since the earlier upload; starting"
                    + " again"));
    place.forget();
    return null;
  }

  private boolean isThere(OngoingUpload begun) throws RefusedException {
    try {
      begun.recordOffset(session(begun).readReceivedBytes());
      err.printf(
          "%s: resuming at %s%n",
          begun.file.name(), Sizes.part(begun.sent.length(), begun.file.size()));
      return true;
    } catch (RefusedException e) {
      if (e.is("gone") || e.status() == 404) {
        return false;
      }
      throw e;
    }
  }

  private UploadSession session(OngoingUpload begun) {
    return new UploadSession(service, begun.state.sessionUrl(), begun.file.size());
  }

  private JsonObject resumable(OngoingUpload begun) throws RefusedException {
    try (Progress progress = progress(begun.file, begun.sent.length());
        ResumeHint note = new ResumeHint(progress, begun.file.name(), begun.file.size())) {
      RetryPolicy retries = new RetryPolicy(environment, progress);
      boolean isLost = false;
      while (true) {
        begun.file.requireUnchanged();
        try {
          if (isLost) {
            begun.recordOffset(session(begun).readReceivedBytes());
            isLost = false;
          }
          if (begun.sent.length() < begun.file.size()) {
            send(begun, progress);
            retries.arrived(begun.sent.length());
          } else {
            retries.allSent();
            return commit(begun);
          }
        } catch (RefusedException e) {
          String sha256 = begun.committed;
          // A commit that succeeded ends the session, so that the next attempt is refused.
          JsonObject landed =
              sha256 == null
                  ? null
                  : committed.find(e, begun.state.id(), hasDigest(sha256), retries);
          if (landed != null) {
            begun.place.forget();
            return landed;
          }
          isLost = true;
          afterFailure(e, begun, retries, progress);
        }
      }
    }
  }

  private void afterFailure(
      RefusedException e, OngoingUpload begun, RetryPolicy retries, Progress progress)
      throws RefusedException {
    if (e.reason().equals("object-missing")) {
      retries.after(
          new RefusedException(ExitCode.UNAVAILABLE, "the service does not have all bytes"));
    } else if (e.isTransient()) {
      retries.after(e);
    } else {
      if (e.is("gone") || e.is("secret-detected") || e.reason().equals("sha-mismatch")) {
        begun.place.forget();
      }
      throw e;
    }
    progress.at(begun.sent.length());
  }

  /** Sends the next part and records how far it got. */
  private void send(OngoingUpload begun, Progress progress) throws RefusedException {
    UploadSession session = session(begun);
    FileRange outgoing =
        FileRange.digested(
            begun.file.path(), begun.sent, session.endOf(begun.sent.length()), progress);
    long kept = session.send(begun.sent.length(), outgoing, progress);
    begun.recordOffset(kept, outgoing);
    progress.at(kept);
    begun.store();
  }

  private JsonObject commit(OngoingUpload begun) throws RefusedException {
    String sha256 = begun.sent.sha256();
    begun.committed = sha256;
    Request request =
        new Request(
            "POST",
            service.baseUrl() + item(begun.state.id()) + "/commit",
            Map.of("Content-Type", "application/json"),
            BodyPublishers.ofString(
                new JsonObject().put("bytes", begun.file.size()).put("sha256", sha256).encode()));
    JsonObject item = service.answer(service.let(request, BodyHandlers.ofString(), COMMIT));
    begun.place.forget();
    return item;
  }
}
