package dev.bourse.client.transfer;

import dev.bourse.core.Sizes;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import dev.bourse.remote.Service.Request;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Publishes a folder as one set: announces its files by their digests, sends the files whose bytes
 * the service lacks, several at a time, and commits the set.
 */
public final class SetUpload {
  /** The service may digest again the bytes received by an earlier process. */
  private static final Duration COMMIT = Duration.ofMinutes(30);

  private final Service service;
  private final CommandEnvironment environment;
  private final CommittedItems committed;
  private final ConfigFolder place;
  private final UploadStates states;
  private final PrintWriter err;
  private final int width;

  /**
   * @param width the number of files digested or sent concurrently
   */
  public SetUpload(
      Service service,
      CommandEnvironment environment,
      ConfigFolder place,
      PrintWriter err,
      int width) {
    this.service = service;
    this.environment = environment;
    this.committed = new CommittedItems(service);
    this.place = place;
    this.states = new UploadStates(place);
    this.err = err;
    this.width = width;
  }

  /**
   * Publishes a folder.
   *
   * @param publication the announcement without the files
   * @return the item
   */
  public JsonObject publish(LocalFolder folder, JsonObject publication) throws RefusedException {
    states.sweep(environment.clock().instant());
    try (UploadStates.Place upload = states.take(service.baseUrl(), folder.path())) {
      FolderDigests digests = new FolderDigests(place, environment.clock(), folder.path());
      digests.sweep();
      JsonObject announced = publication.copy().put("files", files(folder, digests));
      AnnouncedSet begun = resumed(upload, folder, announced);
      if (begun == null) {
        begun =
            AnnouncedSet.of(
                announced, service.call("POST", FileUpload.FAMILY + "/sets", announced));
        upload.write(begun.toJson());
      }
      try {
        send(begun, folder, digests);
        JsonObject item = commit(begun, folder.size());
        upload.forget();
        return item;
      } catch (RefusedException e) {
        boolean isOver = e.is("gone") || e.is("secret-detected");
        if (isOver || e.reason().equals("sha-mismatch")) {
          upload.forget();
        }
        throw e;
      }
    }
  }

  /**
   * An announced set.
   *
   * @param announced the announcement
   * @param id the item
   * @param revision the announced one
   * @param sessionUrl the address for the files; a secret
   * @param missing the numbers of the files whose bytes the service lacks
   */
  private record AnnouncedSet(
      JsonObject announced, String id, long revision, String sessionUrl, List<Integer> missing) {

    static AnnouncedSet of(JsonObject announced, JsonObject answer) {
      return new AnnouncedSet(
          announced,
          answer.getString("id", ""),
          answer.getLong("revision", 0L),
          answer.getString("session_url", ""),
          answer.getJsonArray("missing", new JsonArray()).stream()
              .map(number -> ((Number) number).intValue())
              .toList());
    }

    static AnnouncedSet of(JsonObject stored) {
      return of(stored.getJsonObject("announced", new JsonObject()), stored);
    }

    JsonObject toJson() {
      return new JsonObject()
          .put("announced", announced)
          .put("id", id)
          .put("revision", revision)
          .put("session_url", sessionUrl)
          .put("missing", new JsonArray(missing));
    }

    /** Omits the session's address, which is a secret. */
    @Override
    public String toString() {
      return "AnnouncedSet[id=" + id + ", missing=" + missing + ']';
    }
  }

  /** All files in the form of the announcement. */
  private JsonArray files(LocalFolder folder, FolderDigests digests) throws RefusedException {
    List<LocalFolder.Member> unknown =
        folder.files().stream().filter(m -> !digests.knows(m.path(), m.file())).toList();
    long size = unknown.stream().mapToLong(m -> m.file().size()).sum();
    Map<String, String> found = new HashMap<>();
    try (Progress progress = progress("digests", size)) {
      Parallel.each(
          width,
          folder.files(),
          m -> {
            Transfer part = progress.part();
            String sha256 = digests.sha256(m.path(), m.file(), part);
            synchronized (found) {
              found.put(m.path(), sha256);
            }
          });
    } finally {
      digests.keepOnly(
          folder.files().stream().map(LocalFolder.Member::path).collect(Collectors.toSet()));
      digests.write();
    }
    JsonArray files = new JsonArray();
    for (LocalFolder.Member member : folder.files()) {
      files.add(
          new JsonObject()
              .put("path", member.path())
              .put("bytes", member.file().size())
              .put("sha256", found.get(member.path())));
    }
    return files;
  }

  private Progress progress(String name, long size) {
    return new Progress(err, environment, name, 0, size);
  }

  /** The unfinished upload of an earlier command; null if there is none that can be resumed. */
  private @Nullable AnnouncedSet resumed(
      UploadStates.Place upload, LocalFolder folder, JsonObject announced) throws RefusedException {
    JsonObject stored = upload.read();
    if (stored.isEmpty()) {
      return null;
    }
    AnnouncedSet begun = AnnouncedSet.of(stored);
    boolean isSame = begun.announced().equals(announced);
    if (isSame && isThere(begun, folder)) {
      err.println(folder.name() + ": resuming");
      return begun;
    }
    err.println(
        folder.name()
            + (isSame
                ? ": the earlier upload has ended; starting again"
                : ": the folder or its description changed since the earlier upload; announcing it"
                    + " again"));
    upload.forget();
    return null;
  }

  private boolean isThere(AnnouncedSet begun, LocalFolder folder) throws RefusedException {
    if (begun.missing().isEmpty()) {
      return true;
    }
    try {
      session(begun, folder, begun.missing().get(0)).readReceivedBytes();
      return true;
    } catch (RefusedException e) {
      if (e.is("gone") || e.status() == 404) {
        return false;
      }
      throw e;
    }
  }

  private LocalFolder.Member member(LocalFolder folder, int number) throws RefusedException {
    if (number < 0 || number >= folder.files().size()) {
      throw new RefusedException(
          ExitCode.REFUSED, "the service asks for a file that was not announced");
    }
    return folder.files().get(number);
  }

  private UploadSession session(AnnouncedSet begun, LocalFolder folder, int number)
      throws RefusedException {
    return new UploadSession(
        service, begun.sessionUrl() + '/' + number, member(folder, number).file().size());
  }

  private void send(AnnouncedSet begun, LocalFolder folder, FolderDigests digests)
      throws RefusedException {
    List<Integer> missing = begun.missing();
    long size = 0;
    for (int number : missing) {
      size += member(folder, number).file().size();
    }
    long held = folder.size() - size;
    err.printf(
        "%s: %d of %d files to send, %s%s%n",
        folder.name(),
        missing.size(),
        folder.files().size(),
        Sizes.bytes(size),
        held > 0 ? "; the service has the other " + Sizes.bytes(held) : "");
    err.flush();
    try (Progress progress = progress(folder.name(), size);
        ResumeHint hint = new ResumeHint(progress, folder.name(), size)) {
      Parallel.each(
          width,
          longestFirst(missing, folder),
          number -> {
            LocalFolder.Member member = member(folder, number);
            try {
              send(session(begun, folder, number), member, progress.part());
            } catch (RefusedException e) {
              if (e.reason().equals("sha-mismatch")) {
                digests.forget(member.path());
                throw changed(member);
              }
              throw e;
            }
          });
    }
  }

  /** The longest first, so that the rest does not wait for it at the end. */
  private static List<Integer> longestFirst(List<Integer> numbers, LocalFolder folder) {
    return numbers.stream()
        .sorted(
            Comparator.comparingLong((Integer n) -> folder.files().get(n).file().size()).reversed())
        .toList();
  }

  private static RefusedException changed(LocalFolder.Member member) {
    return new RefusedException(
        ExitCode.REFUSED,
        member.path()
            + " changed while it was sent; run the same command again to send the new version");
  }

  /** Sends one file from the offset that the service has reached. */
  private void send(UploadSession session, LocalFolder.Member member, Transfer progress)
      throws RefusedException {
    LocalFile file = member.file();
    RetryPolicy retries = new RetryPolicy(environment, progress);
    long kept = -1;
    while (true) {
      file.requireUnchanged();
      try {
        if (kept < 0) {
          kept = session.readReceivedBytes();
          progress.begin(kept);
        }
        if (kept == file.size()) {
          return;
        }
        FileRange stretch = FileRange.plain(file.path(), kept, session.endOf(kept), progress);
        if (session.endOf(kept) == file.size()) {
          retries.allSent();
        }
        kept = session.send(kept, stretch, progress);
        progress.at(kept);
        retries.arrived(kept);
      } catch (RefusedException e) {
        kept = -1;
        retries.after(e);
      }
    }
  }

  private JsonObject commit(AnnouncedSet begun, long bytes) throws RefusedException {
    Request request =
        new Request(
            "POST",
            service.baseUrl() + FileUpload.item(begun.id()) + "/commit",
            Map.of("Content-Type", "application/json"),
            BodyPublishers.ofString(new JsonObject().put("bytes", bytes).encode()));
    try (Progress progress = progress("commit", 0)) {
      RetryPolicy retries = new RetryPolicy(environment, progress);
      retries.allSent();
      while (true) {
        try {
          return service.answer(service.let(request, BodyHandlers.ofString(), COMMIT));
        } catch (RefusedException e) {
          JsonObject landed =
              committed.find(
                  e, begun.id(), item -> item.getLong("revision", 0L) == begun.revision(), retries);
          if (landed != null) {
            return landed;
          }
          retries.after(e);
        }
      }
    }
  }
}
