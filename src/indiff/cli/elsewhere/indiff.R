# indiff from R, with data frames. In R:
#   source(textConnection(system2("indiff", "r", stdout = TRUE)))
# The package jsonlite reads the results. Files are written to R's own temporary folder, which
# nobody else can read, and removed again. NA is a missing value of the table; in a release it is a
# suppressed cell, as sdcMicro has it.

.indiff_columns <- function(names) {
  if (any(grepl('"', names, fixed = TRUE))) stop("a column's name may have no double quote")
  paste(paste0('"', names, '"'), collapse = ",")
}

.indiff_write <- function(data, folder, name) {
  path <- file.path(folder, name)
  labels <- vapply(data, is.factor, logical(1))
  data[labels] <- lapply(data[labels], as.character)
  utils::write.csv(data, path, row.names = FALSE, na = "", fileEncoding = "UTF-8")
  path
}

.indiff_call <- function(words, result, command) {
  if (!requireNamespace("jsonlite", quietly = TRUE)) stop("install.packages('jsonlite') first")
  # R puts its own libraries first, which are not those that Python was built with.
  libraries <- if (.Platform$OS.type == "unix") "LD_LIBRARY_PATH=" else character(0)
  said <- suppressWarnings(
    system2(command, shQuote(words), stdout = TRUE, stderr = TRUE, env = libraries)
  )
  code <- attr(said, "status")
  if (is.null(code)) code <- 0L
  if (!(code %in% c(0L, 1L, 3L))) stop(paste(said, collapse = "\n"), call. = FALSE)
  found <- jsonlite::fromJSON(result, simplifyVector = FALSE)
  found$exit_code <- code
  found
}

.indiff_folder <- function() {
  folder <- tempfile("indiff")
  dir.create(folder, mode = "0700")
  folder
}

.indiff_option <- function(name, value) if (is.null(value)) character(0) else c(name, value)

# The risk metrics; weight and household are the names of columns, as in createSdcObj.
indiff_risk <- function(data, quasi, sensitive = NULL, weight = NULL, household = NULL,
                        limits = NULL, command = "indiff") {
  folder <- .indiff_folder()
  on.exit(unlink(folder, recursive = TRUE))
  result <- file.path(folder, "result.json")
  words <- c("risk", .indiff_write(data, folder, "data.csv"), "--quasi", .indiff_columns(quasi))
  if (!is.null(sensitive)) words <- c(words, "--sensitive", .indiff_columns(sensitive))
  words <- c(words, .indiff_option("--weight", weight), .indiff_option("--household", household))
  for (limit in limits) words <- c(words, "--limit", limit)
  .indiff_call(c(words, "--json", result), result, command)
}

# A release that R made, beside its original: a cell that is NA in the release was suppressed.
indiff_test_release <- function(data, release, quasi, sensitive, limits = NULL,
                                command = "indiff") {
  folder <- .indiff_folder()
  on.exit(unlink(folder, recursive = TRUE))
  result <- file.path(folder, "result.json")
  words <- c("test", .indiff_write(data[c(quasi, sensitive)], folder, "data.csv"),
             "--release", .indiff_write(release[c(quasi, sensitive)], folder, "release.csv"),
             "--quasi", .indiff_columns(quasi), "--sensitive", .indiff_columns(sensitive),
             "--suppressed", "")
  for (limit in limits) words <- c(words, "--limit", limit)
  .indiff_call(c(words, "--json", result), result, command)
}
