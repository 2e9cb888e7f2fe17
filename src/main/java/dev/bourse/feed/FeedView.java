package dev.bourse.feed;

import dev.bourse.checkpoint.SetFile;
import dev.bourse.core.Sizes;
import dev.bourse.schemas.checkpoints.PublicCheckpointJson;
import dev.bourse.schemas.checkpoints.PublicCheckpointPageJson;
import dev.bourse.schemas.common.PublisherJson;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Makes the models of the feed's pages from the answers of the API. */
final class FeedView {
  /** The path of the pages. */
  static final String HOME = "/feed/";

  private static final DateTimeFormatter DAY =
      DateTimeFormatter.ofPattern("d MMMM uuuu", Locale.ENGLISH).withZone(ZoneOffset.UTC);
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("d MMMM uuuu, HH:mm 'UTC'", Locale.ENGLISH)
          .withZone(ZoneOffset.UTC);

  /** Media types that browsers show in a tab rather than save. */
  private static final Set<String> SHOWN_FAMILIES = Set.of("text", "image", "audio", "video");

  private static final Set<String> SHOWN_TYPES =
      Set.of("application/json", "application/pdf", "application/xml", "application/xhtml+xml");

  private final String baseUrl;
  private final String contentUrl;

  /**
   * @param baseUrl the service's address for browsers
   * @param contentUrl the address of the host of published bytes; empty when there is none
   */
  FeedView(String baseUrl, String contentUrl) {
    this.baseUrl = baseUrl;
    this.contentUrl = contentUrl;
  }

  /**
   * The model of the list.
   *
   * @param answer of {@code listPublicCheckpoints}
   * @param isFirst whether the page starts with the newest item
   */
  Map<String, Object> list(PublicCheckpointPageJson answer, String q, boolean isFirst) {
    String cursor = answer.cursor();
    Map<String, Object> model = new HashMap<>();
    model.put("q", q);
    model.put("first", isFirst);
    model.put("newest", address(q, ""));
    model.put("older", cursor == null ? "" : address(q, cursor));
    model.put("items", answer.checkpoints().stream().map(FeedView::row).toList());
    return model;
  }

  /** The address of a page of the list, with all its state. */
  private static String address(String q, String before) {
    StringBuilder address = new StringBuilder(HOME);
    char separator = '?';
    if (!q.isEmpty()) {
      address.append(separator).append("q=").append(encoded(q));
      separator = '&';
    }
    if (!before.isEmpty()) {
      address.append(separator).append("before=").append(encoded(before));
    }
    return address.toString();
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private static Map<String, Object> row(PublicCheckpointJson item) {
    Instant published = published(item);
    return Map.of(
        "path", HOME + item.id(),
        "title", item.title(),
        "filename", item.filename(),
        "size", size(item),
        "publisher", publisher(item.publisher()),
        "published_at", published.toString(),
        "published", DAY.format(published));
  }

  private static Instant published(PublicCheckpointJson item) {
    return Instant.ofEpochMilli(Objects.requireNonNull(item.publishedAtMillis()));
  }

  private static String size(PublicCheckpointJson item) {
    String bytes = Sizes.bytes(total(item));
    Integer files = item.files();
    return files == null ? bytes : files + (files == 1 ? " file, " : " files, ") + bytes;
  }

  /** The length of a file, or of a set's files together. */
  private static long total(PublicCheckpointJson item) {
    Long total = item.totalBytes();
    return total == null ? item.bytes() : total;
  }

  /** The publisher, as far as it is public. */
  private static String publisher(PublisherJson publisher) {
    String platform = publisher.name();
    return platform == null ? publisher.orgDisplay() + ", " + publisher.username() : platform;
  }

  /**
   * The model of one item's page.
   *
   * @param files the shown files of a set; empty for a single file
   */
  Map<String, Object> item(PublicCheckpointJson item, List<SetFile> files) {
    String filename = item.filename();
    String bytes = contentUrl.isEmpty() ? baseUrl : contentUrl;
    String content = bytes + item.urls().content();
    Instant published = published(item);
    Map<String, Object> model = new HashMap<>();
    model.put("id", item.id());
    model.put("title", item.title());
    model.put("description", item.description());
    model.put("content_type", item.contentType());
    model.put("sha256", item.sha256());
    model.put("filename", filename);
    model.put("revision", item.revision());
    model.put("publisher", publisher(item.publisher()));
    model.put("size", Sizes.bytes(total(item)));
    model.put("bytes", String.format(Locale.ENGLISH, "%,d", total(item)));
    model.put("published_at", published.toString());
    model.put("published", TIME.format(published));
    model.put("download", bytes + item.urls().download());
    model.put("open", isShown(item.contentType()) ? content : "");
    model.put("curl", "curl -fL -o %s \\\n  %s".formatted(quoted(filename), content));
    model.put("check", "echo %s | sha256sum -c".formatted(quoted(item.sha256() + "  " + filename)));
    model.put("pull", "bourse checkpoint pull " + item.id());
    model.put("files", List.of());
    if (!files.isEmpty()) {
      String folder = bytes + "/api/checkpoints/public/" + item.id() + "/files/";
      model.put(
          "files",
          files.stream()
              .sorted(Comparator.comparing(SetFile::path))
              .map(file -> file(file, folder))
              .toList());
      int count = Objects.requireNonNull(item.files());
      model.put("count", count);
      model.put("more", count - files.size());
      model.put("manifest", content);
    }
    return model;
  }

  private static Map<String, Object> file(SetFile file, String folder) {
    return Map.of(
        "path", file.path(),
        "size", Sizes.bytes(file.bytes()),
        "sha256", file.sha256(),
        "download", folder + file.sha256() + "?download=1");
  }

  private static boolean isShown(String contentType) {
    String type = contentType.split(";", -1)[0].trim().toLowerCase(Locale.ROOT);
    return SHOWN_TYPES.contains(type) || SHOWN_FAMILIES.contains(type.split("/", -1)[0]);
  }

  /**
   * A file name as a shell word, safe for any name; one that starts with - does not become an
   * option.
   */
  private static String quoted(String text) {
    String safe = text.startsWith("-") ? "./" + text : text;
    return "'" + safe.replace("'", "'\\''") + "'";
  }
}
