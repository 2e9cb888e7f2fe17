package dev.bourse.remote;

import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import javax.net.ssl.SSLException;

/** Describes failures of files and connections for people. */
public final class IoWords {
  private IoWords() {}

  /** Returns the description, without the path, which the caller prints itself. */
  public static String of(IOException failure) {
    if (failure instanceof FileSystemException file) {
      return ofFile(file);
    }
    if (failure instanceof HttpTimeoutException) {
      return "no answer in time";
    }
    if (failure instanceof UnknownHostException
        || failure.getCause() instanceof UnresolvedAddressException
        || (failure.getCause() != null
            && failure.getCause().getCause() instanceof UnresolvedAddressException)) {
      return "no such host";
    }
    if (failure instanceof ConnectException) {
      return "the connection was refused";
    }
    if (failure instanceof SSLException) {
      return "TLS: " + failure.getMessage();
    }
    String message = failure.getMessage();
    return message == null ? "the connection was lost" : message;
  }

  private static String ofFile(FileSystemException failure) {
    if (failure instanceof NoSuchFileException) {
      return "there is no such file or folder";
    }
    if (failure instanceof AccessDeniedException) {
      return "this user may not do that";
    }
    if (failure instanceof FileAlreadyExistsException) {
      return "it exists already";
    }
    if (failure instanceof NotDirectoryException) {
      return "it is not a folder";
    }
    String reason = failure.getReason();
    return reason == null ? "the file system refuses it" : reason;
  }
}
