"""What is wrong with Jobs and CronJobs."""
