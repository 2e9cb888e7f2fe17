package dev.bourse.checkpoint;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The automated check of a public file, which helps the reviewer. It rejects nothing, and does not
 * look for credentials, which the upload has rejected.
 */
public final class ReviewCheck {
  /** Signatures at the start of files, and the media types that fit them. */
  private enum Signature {
    ELF("an ELF program", "", "\u007fELF"),
    PE("a Windows program", "", "MZ"),
    MACH_O("a macOS program", "", "\u00cf\u00fa\u00ed\u00fe"),
    SCRIPT("a script with an interpreter line", "", "#!"),
    ZIP("a ZIP archive", "zip", "PK\u0003\u0004"),
    GZIP("a gzip archive", "gzip", "\u001f\u008b"),
    PDF("a PDF document", "pdf", "%PDF"),
    PNG("a PNG image", "png", "\u0089PNG"),
    JPEG("a JPEG image", "jpeg", "\u00ff\u00d8\u00ff"),
    GIF("a GIF image", "gif", "GIF8");

    private final String words;
    private final String typePart;

    /** One character for each byte. */
    private final String start;

    Signature(String words, String typePart, String start) {
      this.words = words;
      this.typePart = typePart;
      this.start = start;
    }

    boolean begins(byte[] beginning) {
      return new String(beginning, StandardCharsets.ISO_8859_1).startsWith(start);
    }
  }

  /** Media types whose files always start with one signature. */
  private static final Map<String, Signature> BEGIN_SO =
      Map.of(
          "application/pdf", Signature.PDF,
          "image/png", Signature.PNG,
          "image/jpeg", Signature.JPEG,
          "image/gif", Signature.GIF,
          "application/zip", Signature.ZIP,
          "application/gzip", Signature.GZIP);

  /** Extensions of files that run code when they are loaded. */
  private static final List<String> PICKLES =
      List.of(".pkl", ".pickle", ".pt", ".pth", ".ckpt", ".joblib");

  private ReviewCheck() {}

  /**
   * Checks a file.
   *
   * @param beginning its first bytes
   * @return remarks for people, may be empty
   */
  public static List<String> findings(Metadata metadata, byte[] beginning) {
    List<String> findings = new ArrayList<>();
    String type = ContentHeaders.mediaType(metadata.contentType());
    Signature expected = BEGIN_SO.get(type);
    if (expected != null && !expected.begins(beginning)) {
      findings.add(
          "type-mismatch: declared " + type + ", but does not begin like " + expected.words);
    }
    for (Signature signature : Signature.values()) {
      if (signature.begins(beginning) && signature.typePart.isEmpty()) {
        findings.add("executable: begins like " + signature.words);
      } else if (signature.begins(beginning)
          && (type.startsWith("text/") || type.startsWith("image/"))
          && !type.contains(signature.typePart)) {
        findings.add("type-mismatch: declared " + type + ", but begins like " + signature.words);
      }
    }
    String name = metadata.fileName().toLowerCase(Locale.ROOT);
    if (PICKLES.stream().anyMatch(name::endsWith)) {
      findings.add("pickle: loading this kind of file can run code that is in it");
    }
    if (ContentHeaders.isActive(type)) {
      findings.add("active-content: browsers run what is in this type; it is served in a sandbox");
    } else if (ContentHeaders.isScript(type, metadata.fileName())) {
      findings.add("script: served as an attachment only");
    } else if (type.startsWith("text/") && looksLikePage(beginning)) {
      findings.add("type-mismatch: declared " + type + ", but begins like a web page");
    }
    return findings;
  }

  private static boolean looksLikePage(byte[] beginning) {
    String text =
        new String(beginning, StandardCharsets.ISO_8859_1).stripLeading().toLowerCase(Locale.ROOT);
    return text.startsWith("<!doctype html") || text.startsWith("<html") || text.startsWith("<svg");
  }
}
