package dev.bourse.checkpoint;

import dev.bourse.core.ApiException;
import dev.bourse.schemas.checkpoints.AnnouncementJson;
import dev.bourse.schemas.checkpoints.PublicationJson;
import dev.bourse.schemas.checkpoints.SetAnnouncementJson;
import dev.bourse.schemas.checkpoints.SetFileJson;
import dev.bourse.schemas.checkpoints.SetPublicationJson;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Parses announcements and formats their answers. */
public final class AnnouncementView {
  private static final String SESSIONS = "/upload/";

  private AnnouncementView() {}

  /**
   * Parses the announcement of a file.
   *
   * @throws ApiException {@code bad-request} for an invalid name or type
   */
  public static CheckpointService.Announcement announcement(PublicationJson sent) {
    String fileName = requireName(sent.filename());
    String type = sent.contentType().toLowerCase(Locale.ROOT);
    if (type.startsWith("multipart/") || type.startsWith("message/")) {
      throw ApiException.badField(
          "content_type", sent.contentType(), "the type of a single file, not a multipart type");
    }
    if (ContentHeaders.mediaType(type).equals(SetFile.MANIFEST_TYPE)) {
      throw ApiException.badField(
          "content_type", sent.contentType(), "another type; use the operation for sets");
    }
    return new CheckpointService.Announcement(
        new Metadata(
            sent.title(),
            sent.description(),
            fileName,
            sent.contentType(),
            sent.bytes(),
            sent.sha256() == null ? null : lower(sent.sha256())),
        Visibility.of(sent.visibility()),
        Optional.ofNullable(sent.upload()).map(kind -> kind.equals("resumable")),
        replace(sent.replace()));
  }

  private static String lower(String sha256) {
    return sha256.toLowerCase(Locale.ROOT);
  }

  private static String requireName(String fileName) {
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
  static CheckpointService.SetAnnouncement set(SetPublicationJson sent) {
    List<SetFile> files = new ArrayList<>();
    SetPaths paths = new SetPaths();
    Map<String, Long> lengths = new HashMap<>();
    long bytes = 0;
    for (SetFileJson file : sent.files()) {
      int number = files.size();
      paths.add("files[%s].path".formatted(number), file.path());
      bytes += file.bytes();
      String sha256 = lower(file.sha256());
      Long told = lengths.putIfAbsent(sha256, file.bytes());
      if (told != null && told != file.bytes()) {
        throw ApiException.badField(
            "files[%s].bytes".formatted(number),
            file.bytes(),
            told + ", like the other file with this sha256");
      }
      files.add(SetFile.announced(number, file.path(), file.bytes(), sha256));
    }
    paths.requireNoFileIsAFolder();
    if (bytes == 0) {
      throw ApiException.badField(
          "files", "only empty files", "at least one file that is not empty");
    }
    return new CheckpointService.SetAnnouncement(
        new Metadata(
            sent.title(),
            sent.description(),
            requireName(sent.filename()),
            SetFile.MANIFEST_TYPE,
            bytes,
            null,
            files.size()),
        Visibility.of(sent.visibility()),
        replace(sent.replace()),
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
  public static AnnouncementJson announced(
      CheckpointService.Announced announced, String baseUrl, String items) {
    Checkpoint item = announced.item();
    Revision draft = announced.draft();
    boolean resumable = draft.resumable();
    return new AnnouncementJson(
        item.id(),
        draft.number(),
        draft.state().label(),
        item.visibility().label(),
        announced.replaced(),
        item.needsReview() ? "required" : "none",
        resumable ? "resumable" : "direct",
        resumable ? null : baseUrl + items + '/' + item.id() + "/content",
        resumable ? baseUrl + SESSIONS + announced.session() : null,
        resumable ? draft.expiresAtMillis() : null);
  }

  /** Formats the answer to the announcement of a set. */
  static SetAnnouncementJson announced(CheckpointService.AnnouncedSet set, String baseUrl) {
    Checkpoint item = set.announced().item();
    Revision draft = set.announced().draft();
    return new SetAnnouncementJson(
        item.id(),
        draft.number(),
        draft.state().label(),
        item.visibility().label(),
        set.announced().replaced(),
        item.needsReview() ? "required" : "none",
        "resumable",
        baseUrl + SESSIONS + set.announced().session(),
        draft.expiresAtMillis(),
        draft.metadata().files(),
        set.missing());
  }
}
