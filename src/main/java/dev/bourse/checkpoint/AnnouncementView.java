package dev.bourse.checkpoint;

import dev.bourse.core.ApiException;
import dev.bourse.core.Times;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Parses announcements and formats their answers. */
public final class AnnouncementView {
  private static final String SESSIONS = "/upload/";

  private AnnouncementView() {}

  /**
   * Parses the announcement of a file.
   *
   * @throws ApiException {@code bad-request} for an invalid name or type
   */
  public static CheckpointService.Announcement announcement(
      JsonObject body, Visibility visibility) {
    String fileName = fileName(body);
    String contentType = body.getString("content_type");
    String type = contentType.toLowerCase(Locale.ROOT);
    if (type.startsWith("multipart/") || type.startsWith("message/")) {
      throw ApiException.badField(
          "content_type", contentType, "the type of a single file, not a multipart type");
    }
    if (ContentHeaders.mediaType(type).equals(SetFile.MANIFEST_TYPE)) {
      throw ApiException.badField(
          "content_type", contentType, "another type; use the operation for sets");
    }
    return new CheckpointService.Announcement(
        new Metadata(
            body.getString("title"),
            body.getString("description"),
            fileName,
            contentType,
            body.getLong("bytes"),
            digest(body)),
        visibility,
        Optional.ofNullable(body.getString("upload")).map(kind -> kind.equals("resumable")),
        replace(body.getValue("replace")));
  }

  /** Returns the announced digest in lower case. */
  private static @Nullable String digest(JsonObject body) {
    String sha256 = body.getString("sha256");
    return sha256 == null ? null : sha256.toLowerCase(Locale.ROOT);
  }

  private static String fileName(JsonObject body) {
    String fileName = body.getString("filename");
    if (fileName.equals(".") || fileName.equals("..")) {
      throw ApiException.badField("filename", fileName, "a file name without folders");
    }
    return fileName;
  }

  /**
   * Parses the announcement of a set.
   *
   * @throws ApiException {@code bad-request} for paths that cannot be files of one folder
   */
  static CheckpointService.SetAnnouncement set(JsonObject body) {
    List<SetFile> files = new ArrayList<>();
    SetPaths paths = new SetPaths();
    JsonArray announced = body.getJsonArray("files");
    Map<String, Long> lengths = new HashMap<>();
    long bytes = 0;
    for (int i = 0; i < announced.size(); i++) {
      JsonObject file = announced.getJsonObject(i);
      String path = file.getString("path");
      paths.add("files[%s].path".formatted(i), path);
      long length = file.getLong("bytes");
      bytes += length;
      String sha256 = Objects.requireNonNull(digest(file));
      Long told = lengths.putIfAbsent(sha256, length);
      if (told != null && told != length) {
        throw ApiException.badField(
            "files[%s].bytes".formatted(i),
            length,
            told + ", like the other file with this sha256");
      }
      files.add(SetFile.announced(i, path, length, sha256));
    }
    paths.requireNoFileIsAFolder();
    if (bytes == 0) {
      throw ApiException.badField(
          "files", "only empty files", "at least one file that is not empty");
    }
    return new CheckpointService.SetAnnouncement(
        new Metadata(
            body.getString("title"),
            body.getString("description"),
            fileName(body),
            SetFile.MANIFEST_TYPE,
            bytes,
            null,
            files.size()),
        Visibility.of(body.getString("visibility")),
        replace(body.getValue("replace")),
        files);
  }

  private static ReplacePolicy replace(Object value) {
    if (value instanceof String id) {
      if (id.equals("true") || id.equals("false")) {
        throw ApiException.badField(
            "replace", id, "true or false without quotation marks, or an id");
      }
      return ReplacePolicy.one(id);
    }
    return Boolean.FALSE.equals(value) ? ReplacePolicy.NONE : ReplacePolicy.ANY;
  }

  /**
   * Formats the answer to an announcement.
   *
   * @param baseUrl the service's address for clients
   * @param items the path of the item's collection, for direct uploads
   */
  public static JsonObject announced(
      CheckpointService.Announced announced, String baseUrl, String items) {
    Checkpoint item = announced.item();
    Revision draft = announced.draft();
    JsonObject json =
        new JsonObject()
            .put("id", item.id())
            .put("revision", draft.number())
            .put("status", draft.state().label())
            .put("visibility", item.visibility().label())
            .put("replaced", announced.replaced())
            .put("review", item.needsReview() ? "required" : "none")
            .put("upload", draft.resumable() ? "resumable" : "direct");
    return draft.resumable()
        ? json.put("session_url", baseUrl + SESSIONS + announced.session())
            .put("expires_at", Times.rfc3339(draft.expiresAtMillis()))
        : json.put("content_url", baseUrl + items + '/' + item.id() + "/content");
  }

  /** Formats the answer to the announcement of a set. */
  static JsonObject announced(CheckpointService.AnnouncedSet set, String baseUrl, String items) {
    CheckpointService.Announced announced = set.announced();
    return announced(announced, baseUrl, items)
        .put("files", announced.draft().metadata().files())
        .put("missing", new JsonArray(set.missing()));
  }

  /** Formats the answer to a deletion. */
  public static JsonObject deleted(String id, long atMillis) {
    return new JsonObject()
        .put("ok", true)
        .put("id", id)
        .put("deleted_at", Times.rfc3339(atMillis));
  }
}
