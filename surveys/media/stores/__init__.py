"""Where the files of an installation lie: in a folder, or in a bucket of an object store that speaks S3."""
