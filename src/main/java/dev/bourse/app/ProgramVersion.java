package dev.bourse.app;

import java.net.URISyntaxException;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.Optional;

/** The jar that this process runs from, and its version. */
public final class ProgramVersion {
  private ProgramVersion() {}

  /** The version from Maven; for a program that is not packaged, a text that says so. */
  public static String text() {
    String version = ProgramVersion.class.getPackage().getImplementationVersion();
    return version == null ? "(not packaged)" : version;
  }

  /** Where the program's classes come from: its jar, or a folder if it is not packaged. */
  static Optional<Path> jar() {
    CodeSource source = ProgramVersion.class.getProtectionDomain().getCodeSource();
    try {
      return source == null ? Optional.empty() : Optional.of(Path.of(source.getLocation().toURI()));
    } catch (URISyntaxException e) {
      throw new IllegalStateException("the program's classes come from no path", e);
    }
  }
}
