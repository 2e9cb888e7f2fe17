package dev.bourse.core;

import java.io.UncheckedIOException;
import java.net.UnknownHostException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/** Explains failures of files and the network whose exception message is just a name. */
public final class FailureText {
  private FailureText() {}

  /** Describes a failure to the user of a command. */
  public static String of(Throwable failure) {
    if (failure instanceof UncheckedIOException && failure.getCause() != null) {
      return of(failure.getCause());
    }
    String message = failure.getMessage();
    if (message == null || message.isBlank()) {
      return failure.toString();
    }
    if (failure instanceof NoSuchFileException) {
      return message + ": there is no such file or folder";
    }
    if (failure instanceof AccessDeniedException) {
      return message + ": this user may not do that";
    }
    if (failure instanceof FileAlreadyExistsException || failure instanceof NotDirectoryException) {
      return message + ": is not a folder";
    }
    if (failure instanceof UnknownHostException) {
      return message + ": no host of this name is known";
    }
    return message;
  }
}
